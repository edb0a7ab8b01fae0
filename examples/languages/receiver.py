"""`listen 3000` receives signed order events, `order A-1001` prints a signed order. Python 3.9 or later.

Set PARTNER_SECRET_KEY and MERCHANT_SECRET_KEY; several of one, newest first, with blanks between them.
As a module it does nothing by itself: `from receiver import check, keys, sign, verify`."""
import hashlib, hmac, json, os, re, sys
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SPACE, COMMA, LIMIT = re.compile(r"[ \t\n\r]*"), re.compile(r"[ \t\n\r]*,[ \t\n\r]*"), 65536
# Decimals keep every digit of an amount. int refuses NaN and Infinity.
decoder = json.JSONDecoder(parse_float=Decimal, parse_int=Decimal, parse_constant=int)

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

def check(text, signature, keys):
    """The event of a signed text, or None. `keys`: one, or a list with the newest first; an empty one never counts."""
    known, claim = [keys] if isinstance(keys, str) else keys, signature if isinstance(signature, str) else ""
    try:
        right = [hmac.compare_digest(claim.encode(), sign(text, key).encode()) for key in known if key]
        return decoder.decode(text) if any(right) else None
    except (ValueError, ArithmeticError, RecursionError):
        return None

def verify(body, keys):
    """The event of a body as received, in bytes, or None if it is not authentic."""
    try:
        text = body.decode("utf-8")  # Not json.loads(body), which takes UTF-16 and a byte order mark too.
        event = decoder.decode(text)
        [(start, end, signature)] = signatures(text) if isinstance(event, dict) else []  # Exactly one.
        return None if check(without(text, start, end), signature, keys) is None else event
    except (ValueError, ArithmeticError, RecursionError):
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
        event = verify(body, self.server.keys) if len(body) == int(length) else None
        # Store the event here, before it is acknowledged; an unfamiliar one too.
        self.reply(401 if event is None else 200)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = lambda self: self.reply(405)

    def reply(self, status):
        self.send_response(status)
        self.send_header("allow", "POST")
        self.end_headers()

def keys():
    """The keys of order events, newest first: a merchant secret and a partner secret with nothing between them."""
    merchants, partners = (os.environ.get(name, "").split() for name in ("MERCHANT_SECRET_KEY", "PARTNER_SECRET_KEY"))
    if not (merchants and partners):
        raise ValueError("Set MERCHANT_SECRET_KEY and PARTNER_SECRET_KEY: without both anybody could sign.")
    return [merchant + partner for merchant in merchants for partner in partners]

def main(command="", value=""):
    if not (command == "order" and value or command == "listen" and value.isdecimal()):
        raise ValueError("Usage: receiver.py listen PORT | order ID")
    known = keys()
    if command == "listen":
        server = ThreadingHTTPServer(("127.0.0.1", int(value)), Receiver)
        server.keys = known
        server.serve_forever()
    order = json.dumps({
        "partner_order_id": value, "fiat_amount": "15000.50", "fiat_currency": "NGN", "chain": "usdt-trc20",
        "buyer_crypto_address": "TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP", "partner_callback_url": "https://partner.example/orders",
    })
    print(f'{order[:-1]}, "signature": "{sign(order, known[0])}"}}', end="")  # Post exactly this text.

if __name__ == "__main__":
    try:
        main(*sys.argv[1:3])
    except ValueError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
