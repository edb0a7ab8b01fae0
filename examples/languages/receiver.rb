# `listen 3000` receives signed order events, `order A-1001` prints a signed order. Ruby 3.0 or later.
# Set PARTNER_SECRET_KEY and MERCHANT_SECRET_KEY.
%w[json openssl socket strscan timeout].each { |name| require name }

def secret(name)
  ENV[name].to_s.strip.then { |value| value.empty? ? (warn "Set #{name}: without it anybody could sign."; exit 2) : value }
end

SPACE = /[ \t\n\r]*/
COLON, COMMA = /[ \t\n\r]*:[ \t\n\r]*/, /[ \t\n\r]*,[ \t\n\r]*/
STRING = %r{"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u\h{4}))*+"}
SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/
CLOSE = { '{' => /\}/, '[' => /\]/ }

def sign(text) = OpenSSL::HMAC.hexdigest('SHA512', KEY, text)

# Reads one value, strictly: JSON.parse takes comments and unknown escapes. Yields each member of the outermost object.
def read_value(scan, depth = 0)
  return if scan.skip(STRING) || scan.skip(SCALAR)
  is_object, close = scan.check(/\{/), CLOSE[scan.getch]
  raise ArgumentError if close.nil? || depth == 500
  scan.skip(SPACE)
  return if scan.skip(close)
  loop do
    start, name = scan.pos, (scan.scan(STRING) if is_object)
    raise ArgumentError if is_object && !(name && scan.skip(COLON))
    value = scan.pos
    read_value(scan, depth + 1)
    yield name, start, value, scan.pos if is_object && block_given?
    break unless scan.skip(COMMA)
  end
  scan.skip(SPACE)
  scan.skip(close) or raise ArgumentError
end

# The text without this member and one comma: the one before it, or else the one after it.
def without(text, start, finish)
  before, after = text.byteslice(0...start), text.byteslice(finish..)
  return before.sub(/[ \t\n\r]*,[ \t\n\r]*\z/, '') + after if before.match?(/,[ \t\n\r]*\z/)
  return before + after.sub(/\A[ \t\n\r]*,[ \t\n\r]*/, '') if after.match?(/\A[ \t\n\r]*,/)
  before.sub(/[ \t\n\r]*\z/, '') + after.sub(/\A[ \t\n\r]*/, '')
end

def authentic?(body)
  text = body.dup.force_encoding('UTF-8')
  found, scan = [], StringScanner.new(text)
  return false unless text.valid_encoding? && scan.skip(/[ \t\n\r]*(?=\{)/)
  read_value(scan) { |name, *span| found << span if JSON.parse("[#{name}]") == ['signature'] }
  scan.skip(SPACE)
  return false unless scan.eos? && found.size == 1
  start, value, finish = found[0]
  claim = JSON.parse("[#{text.byteslice(value...finish)}]")[0]
  claim.is_a?(String) && OpenSSL.secure_compare(claim, sign(without(text, start, finish)))
rescue ArgumentError, JSON::ParserError
  false
end

def status_of(socket)
  request, *lines = socket.gets("\r\n\r\n", 16_384).to_s.split("\r\n")
  headers = lines.to_h { |line| line.downcase.split(/:\s*/, 2).then { |name, value| [name, value.to_s] } }
  return 405 unless request.to_s.start_with?('POST ')
  length = Integer(headers['content-length'], 10, exception: false)
  return 413 if headers.key?('transfer-encoding') || !length&.between?(0, 65_536)
  body = socket.read(length).to_s
  body.bytesize == length && authentic?(body) ? 200 : 401 # Store the event before you answer 200; an unfamiliar one too.
end

command, value = ARGV
unless command == 'order' && value || command == 'listen' && value&.match?(/\A\d+\z/)
  warn 'Usage: receiver.rb listen PORT | order ID'
  exit 2
end
KEY = secret('MERCHANT_SECRET_KEY') + secret('PARTNER_SECRET_KEY') # Nothing between them.
if command == 'order'
  order = { partner_order_id: value, fiat_amount: '15000.50', fiat_currency: 'NGN', chain: 'usdt-trc20',
            buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP', partner_callback_url: 'https://partner.example/orders' }.to_json
  print(order.chop, ',"signature":"', sign(order), '"}') # Post exactly this text.
  exit
end
Socket.tcp_server_loop('127.0.0.1', value.to_i) do |client|
  Thread.new(client) do |socket|
    status = Timeout.timeout(5) { status_of(socket) }
    socket.write("HTTP/1.1 #{status} -\r\nallow: POST\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
  rescue Timeout::Error, SystemCallError, IOError
    # Too slow, or gone: closed without an answer.
  ensure
    socket.close
  end
end
