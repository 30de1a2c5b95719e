-- Makes wrk send one prepared request again and again, with ids in turn, and prints the result as JSON.
-- Arguments: a file with the request as text, a file with one id per line, the pause before each request in ms.

--- Every id has the same length, so that the content-length of the request is right for all of them.
function init(args)
  local text = assert(io.open(args[1], 'rb')):read('*a')
  local parts, ids, index = {}, {}, 0
  for part in (text .. '{id}'):gmatch('(.-){id}') do parts[#parts + 1] = part end
  for id in io.lines(args[2]) do ids[#ids + 1] = id end
  request = function()
    index = index % #ids + 1
    return table.concat(parts, ids[index])
  end
  wrk.request = request
  local pause = tonumber(args[3])
  if pause > 0 then delay = function() return pause end end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"perSecond":%.3f,"p99Ms":%.3f,"refused":%d,"broken":%d}\n',
    summary.requests, summary.requests / summary.duration * 1e6, latency:percentile(99) / 1000,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
