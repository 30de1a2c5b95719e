# Serves HTTP: one thread and one request per connection.
require "json"
require "socket"
require "timeout"

# An error answer: status, code, message and, for bad input, the field.
class Refused < StandardError
  attr_reader :status, :about

  def initialize(status, code, message, field = nil)
    super(message)
    @status = status
    @about = { code: code, message: message, field: field }.compact
  end
end

# The headers are lists by lower-case name, because a header can come twice. The body is bytes.
Request = Struct.new(:verb, :path, :headers, :body, :address)

class HttpServer
  MAX_LINE, MAX_HEADERS, MAX_BODY = 16 * 1024, 100, 1024 * 1024
  PIECE = 64 * 1024
  READ_SECONDS = 20 # for a sender that stops before the end

  # The block gets a request, and returns a status and a value to send as JSON.
  def initialize(host, port, &answer)
    @listener, @answer = TCPServer.new(host, port), answer
    @listener.listen(128) # a burst of events must not wait
    @requests = ThreadGroup.new
  end

  def port = @listener.addr[1]

  def run
    loop { @requests.add(Thread.new(@listener.accept) { |socket| serve(socket) }) }
  end

  # Waits for the requests in flight.
  def close
    @listener.close
    @requests.list.each { |thread| thread.join(READ_SECONDS) }
  end

  private

  def serve(socket)
    send_answer(socket, *answer_of(socket))
  rescue SystemCallError, IOError, Timeout::Error
    LOG.info("a request was aborted")
  ensure
    socket.close
  end

  def answer_of(socket)
    @answer.call(Timeout.timeout(READ_SECONDS) { read(socket) })
  rescue Refused => error
    [error.status, { error: error.about }]
  rescue SystemCallError, IOError, Timeout::Error
    raise # the connection, not the program
  rescue StandardError => error # one request must not end the program
    LOG.error("#{error.class}: #{error.message} at #{error.backtrace.first}")
    [500, { error: { code: "internal", message: "Something went wrong here." } }]
  end

  def send_answer(socket, status, value)
    body = JSON.generate(value)
    socket.write("HTTP/1.1 #{status} \r\nContent-Type: application/json\r\n",
                 status == 405 ? "Allow: POST\r\n" : "",
                 "Content-Length: #{body.bytesize}\r\nConnection: close\r\n\r\n", body)
  end

  def read(socket)
    verb, target, version = line(socket).split
    raise bad_request unless version&.start_with?("HTTP/1.")
    headers = read_headers(socket)
    body = headers.key?("transfer-encoding") ? read_chunks(socket) : read_length(socket, headers)
    raise Refused.new(413, "body_too_large", "The body is longer than #{MAX_BODY} bytes.") unless body
    Request.new(verb, target.partition("?").first, headers, body, socket.remote_address.ip_address)
  end

  def read_headers(socket)
    headers = Hash.new { |all, name| all[name] = [] }
    until (text = line(socket)).empty?
      name, value = text.split(":", 2)
      raise bad_request if value.nil? || headers.size >= MAX_HEADERS
      headers[name.downcase] << value.strip
    end
    headers.default = [].freeze
    headers
  end

  # Both return nil for a body that is too long. They read it to its end without keeping it: otherwise
  # the sender would get a connection reset instead of the 413.

  def read_length(socket, headers)
    length = headers["content-length"].first || "0"
    raise bad_request unless length.match?(/\A\d+\z/)
    take(socket, length.to_i, "".b)
  end

  def read_chunks(socket)
    body = "".b
    loop do
      size = line(socket)[/\A\h+/] or raise bad_request
      break if size.hex.zero?
      body = take(socket, size.hex, body)
      line(socket)
    end
    nil until line(socket).empty? # trailers
    body
  end

  def take(socket, length, body)
    while length.positive?
      piece = socket.readpartial([length, PIECE].min)
      length -= piece.bytesize
      body = nil if body && body.bytesize + piece.bytesize > MAX_BODY
      body&.concat(piece)
    end
    body
  end

  def line(socket)
    text = socket.gets("\n", MAX_LINE) or raise EOFError
    raise bad_request unless text.end_with?("\n")
    text.chomp.b
  end

  def bad_request = Refused.new(400, "bad_request", "This is not a request of HTTP/1.1.")
end
