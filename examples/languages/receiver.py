"""`listen 3000` receives signed order events, `order A-1001` prints a signed order. Python 3.9 or later.

Set PARTNER_SECRET_KEY and MERCHANT_SECRET_KEY. When it is imported it does nothing: call verify and sign."""
import hashlib, hmac, json, os, re, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SPACE, COMMA = re.compile(r"[ \t\n\r]*"), re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
LIMIT = 65536

def no_json(name):
    raise ValueError(name)

decoder = json.JSONDecoder(parse_constant=no_json)  # Refuses NaN and Infinity.

def signatures(text):
    """Start, end and value of each top-level member named signature, in the text of an object that parses."""
    at = SPACE.match(text, text.index("{") + 1).end()
    while text[at] != "}":
        name, end = decoder.raw_decode(text, at)
        value, end = decoder.raw_decode(text, SPACE.match(text, SPACE.match(text, end).end() + 1).end())
        if name == "signature":
            yield at, end, value
        at = (COMMA.match(text, end) or SPACE.match(text, end)).end()

def without(text, start, end):
    """The text without this member and one comma: the one before it, or else the one after it."""
    before, after = text[:start].rstrip(" \t\n\r"), COMMA.match(text, end)
    if before.endswith(","):
        return before[:-1].rstrip(" \t\n\r") + text[end:]
    return text[:start] + text[after.end():] if after else before + text[end:].lstrip(" \t\n\r")

def sign(text, key):
    return hmac.new(key.encode(), text.encode(), hashlib.sha512).hexdigest()

def verify(body, key):
    """The event, or None if it is not authentic. With an empty key anybody could sign, so nothing is."""
    try:
        text = body.decode("utf-8")  # Not json.loads(body), which takes UTF-16 and a byte order mark too.
        event = decoder.decode(text)
        [(start, end, signature)] = signatures(text) if isinstance(event, dict) else []  # Exactly one.
        expected = sign(without(text, start, end), key).encode()
        return event if key and isinstance(signature, str) and hmac.compare_digest(signature.encode(), expected) else None
    except (ValueError, RecursionError):
        return None

class Receiver(BaseHTTPRequestHandler):
    timeout = 5  # Seconds without a byte, then the connection is closed.

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if "transfer-encoding" in self.headers or not re.fullmatch("[0-9]{1,9}", length):
            return self.reply(411)
        if int(length) > LIMIT:
            return self.reply(413)
        body = self.rfile.read(int(length))
        event = verify(body, self.server.key) if len(body) == int(length) else None
        # Store the event here, before it is acknowledged; an unfamiliar one too.
        self.reply(401 if event is None else 200)

    def not_allowed(self):
        self.reply(405)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = not_allowed

    def reply(self, status):
        self.send_response(status)
        self.send_header("allow", "POST")
        self.end_headers()

def refuse(reason):
    print(reason, file=sys.stderr)
    sys.exit(2)

def secret(name):
    return os.environ.get(name, "").strip() or refuse(f"Set {name}: without it anybody could sign.")

def main(command="", value=""):
    if not (command == "order" and value or command == "listen" and value.isdecimal()):
        refuse("Usage: receiver.py listen PORT | order ID")
    key = secret("MERCHANT_SECRET_KEY") + secret("PARTNER_SECRET_KEY")  # Nothing between them.
    if command == "listen":
        server = ThreadingHTTPServer(("127.0.0.1", int(value)), Receiver)
        server.key = key
        server.serve_forever()
    order = json.dumps({
        "partner_order_id": value, "fiat_amount": "15000.50", "fiat_currency": "NGN", "chain": "usdt-trc20",
        "buyer_crypto_address": "TQ5NMqJjhpQGK7YJbESKfVXGnLkYbLZ1pA", "partner_callback_url": "https://partner.example/orders",
    })
    print(f'{order[:-1]}, "signature": "{sign(order, key)}"}}', end="")  # Post exactly this text.

if __name__ == "__main__":
    main(*sys.argv[1:3])
