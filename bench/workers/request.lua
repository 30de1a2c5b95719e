-- Makes wrk send one prepared request again and again, with the ids of chats in turn, and prints the result as JSON.
-- Arguments: a file with the request as text, a file with one id per line (or -), the pause before each request in ms.

local function read(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

local MARK = '{chat}'

--- Every id has the same length, so that the content-length of the request is right for all of them.
local function rotate(text, ids)
  local parts, from = {}, 1
  while true do
    local at = text:find(MARK, from, true)
    parts[#parts + 1] = text:sub(from, at and at - 1)
    if not at then break end
    from = at + #MARK
  end
  local index = 0
  return function()
    index = index % #ids + 1
    return table.concat(parts, ids[index])
  end
end

function init(args)
  local text = read(args[1])
  local ids = {}
  if args[2] ~= '-' then
    for id in read(args[2]):gmatch('[^\n]+') do ids[#ids + 1] = id end
  end
  local pause = tonumber(args[3])
  if pause > 0 then
    delay = function() return pause end
  end
  request = #ids == 0 and function() return text end or rotate(text, ids)
  wrk.request = request
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%.6f,"p50Ms":%.3f,"p99Ms":%.3f,"maxMs":%.3f,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    latency.max / 1000, errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
