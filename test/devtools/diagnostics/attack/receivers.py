"""Receivers of order events in one process, each at a path of its own: `sound`, and one for each classic fault.

Prints its port. Ends when its standard input does. `/<name>/handled?partner_order_id=…` answers how often that
receiver acted on an order.
"""

import hashlib
import hmac
import json
import re
import sys
import threading
import time
import unicodedata
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json.decoder import JSONDecoder, scanstring
from urllib.parse import parse_qs, urlsplit

PUBLIC, PARTNER, MERCHANT = sys.argv[1:4]
KEY = MERCHANT + PARTNER
HEX = re.compile(r"[0-9a-f]{128}")
SPACE = " \t\n\r"
KNOWN = """
event_name partner_order_id platform_order_ref fiat_amount_to_pay crypto_amount_to_receive exchange_rate pair
fiat_currency buyer_crypto_address chain fiat_payment_status crypto_payment_status payer_into_account payment_link
crypto_txn_hash partner_callback_url transactional_kyc signature
""".split()


class Refused(Exception):
    """The delivery is not authentic."""


class Duplicate(Refused):
    """The receiver has seen it before."""


def sign(text, key=KEY):
    return hmac.new(key.encode(), text.encode(), hashlib.sha512).hexdigest()


def reject_constant(name):
    raise ValueError(name)


DECODER = JSONDecoder(parse_constant=reject_constant)


def parse(text):
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError):
        raise Refused("not JSON")


def skip_space(text, at):
    while at < len(text) and text[at] in SPACE:
        at += 1
    return at


def members(text):
    """Name, start and end of each top-level member of an object that parses."""
    found = []
    at = skip_space(text, 0) + 1
    while True:
        start = skip_space(text, at)
        if text[start] == "}":
            return found
        name, at = scanstring(text, start + 1)
        at = skip_space(text, skip_space(text, at) + 1)
        _, end = DECODER.raw_decode(text, at)
        found.append((name, start, end))
        at = skip_space(text, end)
        if text[at] == "}":
            return found
        at += 1


def cut(text, start, end):
    """The text without this member and one comma."""
    before = len(text[:start].rstrip(SPACE))
    if text[before - 1] == ",":
        return text[: len(text[: before - 1].rstrip(SPACE))] + text[end:]
    after = skip_space(text, end)
    if text[after] == ",":
        return text[:start] + text[skip_space(text, after + 1) :]
    return text[:before] + text[after:]


def unsigned(text):
    """The signed text: the body without its signature."""
    signatures = [(start, end) for name, start, end in members(text) if name == "signature"]
    if len(signatures) != 1:
        raise Refused("not one signature")
    return cut(text, *signatures[0])


def step(event):
    """What an effect is known by: the order and the event."""
    return f"{event.get('partner_order_id')} {event.get('event_name')}"


class Sound:
    """Refuses what it must and loses nothing."""

    limit = 65536
    body_seconds = 4
    reads_once = False

    def __init__(self):
        self.lock = threading.Lock()
        self.seen = set()
        self.counts = {}

    def count(self, event):
        order = str(event.get("partner_order_id"))
        self.counts[order] = self.counts.get(order, 0) + 1

    def receive(self, body, request):
        text = ""
        try:
            text = self.decode(body)
            self.before(text)
            event = self.verify(text, request)
        except Refused as error:
            return self.refuse(error, text)
        try:
            self.act(event, text)
        except Duplicate:
            return 500, "duplicate key value"
        return 200, "received"

    def decode(self, body):
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            raise Refused("not UTF-8")

    def before(self, text):
        pass

    def verify(self, text, request):
        event = parse(text)
        if not isinstance(event, dict):
            raise Refused("not an object")
        claim = self.claim(event)
        if not self.matches(claim, unsigned(text)):
            raise Refused("wrong signature")
        return event

    def claim(self, event):
        claim = event.get("signature")
        if not isinstance(claim, str) or not HEX.fullmatch(claim):
            raise Refused("no signature")
        return claim

    def matches(self, claim, text):
        return any(hmac.compare_digest(claim, sign(text, key)) for key in self.keys())

    def keys(self):
        return [KEY]

    def refuse(self, error, text):
        return 401, "refused"

    def act(self, event, text):
        self.once(step(event), event)

    def once(self, key, event):
        with self.lock:
            if key in self.seen:
                return
            self.seen.add(key)
            self.count(event)


class VerifiesNothing(Sound):
    def verify(self, text, request):
        event = parse(text)
        if not isinstance(event, dict) or "event_name" not in event:
            raise Refused("no event")
        return event


class VerifiesWhatIsSigned(Sound):
    def verify(self, text, request):
        event = parse(text)
        if isinstance(event, dict) and "event_name" in event and "signature" not in event:
            return event
        return super().verify(text, request)


class ChecksPresence(Sound):
    def matches(self, claim, text):
        return True


class VerifiesPayments(Sound):
    def verify(self, text, request):
        event = parse(text)
        if isinstance(event, dict) and event.get("event_name") == "buy.event.close":
            return event
        return super().verify(text, request)


class PartnerKeyOnly(Sound):
    def keys(self):
        return [PARTNER]


class PartnerKeyToo(Sound):
    def keys(self):
        return [KEY, PARTNER]


class MerchantKeyToo(Sound):
    def keys(self):
        return [KEY, MERCHANT]


class KeysInAnyOrder(Sound):
    def keys(self):
        return [KEY, PARTNER + MERCHANT]


class PublicKeyToo(Sound):
    def keys(self):
        return [KEY, PUBLIC + PARTNER]


class MissingKeys(Sound):
    def keys(self):
        return [KEY, f"{None}{None}"]


class HashWithoutKey(Sound):
    def matches(self, claim, text):
        return super().matches(claim, text) or claim == hashlib.sha512(text.encode()).hexdigest()


class AnotherHash(Sound):
    def claim(self, event):
        return event.get("signature")

    def matches(self, claim, text):
        return claim == hmac.new(KEY.encode(), text.encode(), hashlib.sha256).hexdigest()


class AnotherEncoding(Sound):
    """Expects upper-case letters."""

    def claim(self, event):
        claim = event.get("signature")
        if not isinstance(claim, str) or not re.fullmatch("[0-9A-F]{128}", claim):
            raise Refused("no signature")
        return claim.lower()


class Rewrites(Sound):
    ascii = True

    def verify(self, text, request):
        event = parse(text)
        if not isinstance(event, dict):
            raise Refused("not an object")
        claim = self.claim(event)
        rest = {name: value for name, value in event.items() if name != "signature"}
        try:
            rewritten = json.dumps(rest, separators=(",", ":"), ensure_ascii=self.ascii)
            if self.matches(claim, rewritten):
                return event
        except (RecursionError, UnicodeEncodeError):
            pass
        raise Refused("wrong signature")


class RewritesKnownMembers(Rewrites):
    """As code does that reads bodies into a class."""

    def verify(self, text, request):
        event = parse(text)
        if not isinstance(event, dict):
            raise Refused("not an object")
        known = {name: value for name, value in event.items() if name in KNOWN}
        super().verify(json.dumps(known), request)
        return known


class ComparesPrefix(Sound):
    def matches(self, claim, text):
        return claim[:16] == sign(text)[:16]


class ComparesBeginning(Sound):
    def claim(self, event):
        claim = event.get("signature")
        if not isinstance(claim, str):
            raise Refused("no signature")
        return claim

    def matches(self, claim, text):
        return sign(text).startswith(claim)


class ComparesInStep(ComparesBeginning):
    def matches(self, claim, text):
        return all(one == other for one, other in zip(claim, sign(text)))


class AnyCase(Sound):
    def claim(self, event):
        claim = event.get("signature")
        return super().claim({"signature": claim.lower() if isinstance(claim, str) else None})


class ComparesText(ComparesBeginning):
    """`compare_digest` of text refuses what is not ASCII with a TypeError."""

    def matches(self, claim, text):
        return hmac.compare_digest(claim, sign(text))


class DropsConnection(ComparesText):
    """The same, in a server that closes the connection of what it did not catch."""

    def receive(self, body, request):
        try:
            return super().receive(body, request)
        except TypeError:
            return None


class TakesLastSignature(Sound):
    def verify(self, text, request):
        event = parse(text)
        if not isinstance(event, dict):
            raise Refused("not an object")
        claim = self.claim(event)
        signatures = [(start, end) for name, start, end in members(text) if name == "signature"]
        for start, end in reversed(signatures):
            text = cut(text, start, end)
        if not self.matches(claim, text):
            raise Refused("wrong signature")
        return event


class RemembersFirst(Sound):
    def before(self, text):
        event = parse(text)
        if not isinstance(event, dict) or "partner_order_id" not in event:
            return
        event_id = (str(event["partner_order_id"]), str(event.get("event_name")))
        with self.lock:
            if event_id in self.seen:
                raise Duplicate()
            self.seen.add(event_id)

    def refuse(self, error, text):
        return (200, "duplicate") if isinstance(error, Duplicate) else (401, "refused")

    def act(self, event, text):
        self.count(event)


class ActsTwice(Sound):
    def count(self, event):
        super().count(event)
        super().count(event)


class ActsAgain(Sound):
    def act(self, event, text):
        with self.lock:
            self.count(event)


class ActsAtOnce(Sound):
    def act(self, event, text):
        if step(event) in self.seen:
            return
        time.sleep(0.03)
        self.seen.add(step(event))
        with self.lock:
            self.count(event)


class RemembersLast(Sound):
    def act(self, event, text):
        with self.lock:
            if step(event) in self.seen:
                return
            self.seen = {step(event)}
            self.count(event)


class RemembersOrders(Sound):
    def act(self, event, text):
        self.once(str(event.get("partner_order_id")), event)


class ActsFirst(Sound):
    def before(self, text):
        event = parse(text)
        if isinstance(event, dict) and "event_name" in event:
            super().act(event, text)

    def act(self, event, text):
        pass


class ActsLater(ActsFirst):
    """Acts before it verifies, from a queue."""

    def before(self, text):
        parse(text)
        threading.Timer(0.02, super().before, [text]).start()


class AlwaysOk(Sound):
    def refuse(self, error, text):
        return 200, "received"


class DebugHeader(Sound):
    def verify(self, text, request):
        event = parse(text)
        if isinstance(event, dict) and self.is_trusted(request):
            return event
        return super().verify(text, request)

    def is_trusted(self, request):
        return request.headers.get("X-Test") == "true"


class TrustsLoopback(DebugHeader):
    def is_trusted(self, request):
        return request.headers.get("X-Forwarded-For") == "127.0.0.1"


class QuerySwitch(DebugHeader):
    def is_trusted(self, request):
        return "skip_verification=true" in request.path


class TellsSignature(Sound):
    def refuse(self, error, text):
        try:
            return 401, f"expected {sign(unsigned(text))}"
        except Exception:
            return 401, "refused"


class ReplacesBytes(Sound):
    def decode(self, body):
        return body.decode("utf-8", errors="replace")


class OnlyAscii(Sound):
    def decode(self, body):
        try:
            return body.decode("ascii")
        except UnicodeDecodeError:
            raise Refused("not ASCII")


class FailsOnNotJson(Sound):
    def refuse(self, error, text):
        json.loads(text)
        return 401, "refused"


class FailsOnForgeries(Sound):
    def refuse(self, error, text):
        raise error


class FailsOnOtherEncodings(Sound):
    def decode(self, body):
        return body.decode("utf-8")


class FailsOnLists(Sound):
    def verify(self, text, request):
        parse(text).get("event_name")
        return super().verify(text, request)


class FailsWithoutSignature(Sound):
    def verify(self, text, request):
        event = parse(text)
        if isinstance(event, dict):
            event["signature"]
        return super().verify(text, request)


class FailsOpen(Sound):
    def claim(self, event):
        return event.get("signature", "")

    def matches(self, claim, text):
        try:
            return hmac.compare_digest(bytes.fromhex(claim), bytes.fromhex(sign(text)))
        except (TypeError, ValueError):
            return True


class ReadsOnce(Sound):
    reads_once = True


class QuotesByHand(Sound):
    def act(self, event, text):
        if "'" in event["transactional_kyc"]["first_name"]:
            raise ValueError("syntax error")
        super().act(event, text)


class NoLimit(Sound):
    limit = 1 << 30


class RefusesUnfamiliar(Sound):
    def verify(self, text, request):
        event = super().verify(text, request)
        if "probe.unfamiliar" in event["event_name"] or "sell" in event["event_name"]:
            raise Refused("unknown event")
        return event


class ActsOnCreditsAlone(Sound):
    """Sound: a dispatcher by name that acknowledges all others."""

    def act(self, event, text):
        if event["event_name"] == "event.buy.credited.crypto":
            super().act(event, text)


class DropsOtherShapes(Sound):
    """Logs what its model does not accept, and answers 200."""

    def act(self, event, text):
        if isinstance(event.get("exchange_rate"), (int, float)) and "bank_name" in event["payer_into_account"]:
            super().act(event, text)


class FailsOnDuplicates(Sound):
    def act(self, event, text):
        with self.lock:
            if step(event) in self.seen:
                raise Duplicate()
            self.seen.add(step(event))
            self.count(event)


class HandlesNothing(Sound):
    def act(self, event, text):
        pass


class KnowsSignatures(Sound):
    """Knows a repetition by its signature."""

    def act(self, event, text):
        self.once(event["signature"], event)


class CachesSignatures(Sound):
    """A signature that was right once is not computed again."""

    def __init__(self):
        super().__init__()
        self.right = set()

    def matches(self, claim, text):
        if claim not in self.right and not super().matches(claim, text):
            return False
        self.right.add(claim)
        return True


class TrustsKnownOrders(Sound):
    def verify(self, text, request):
        event = parse(text)
        if isinstance(event, dict) and self.counts.get(event.get("partner_order_id")):
            return event
        return super().verify(text, request)


class AnswersDuplicatesFirst(Sound):
    """Looks for a duplicate before it verifies, and remembers after it."""

    def before(self, text):
        event = parse(text)
        if isinstance(event, dict) and step(event) in self.seen:
            raise Duplicate()

    def refuse(self, error, text):
        return (200, "duplicate") if isinstance(error, Duplicate) else (401, "refused")


class SharesItsVerdict(Sound):
    """Keeps the verdict in the object that all requests share."""

    is_right = False

    def verify(self, text, request):
        event = parse(text)
        if not isinstance(event, dict):
            raise Refused("not an object")
        self.is_right = self.matches(self.claim(event), unsigned(text))
        time.sleep(0.005)
        if not self.is_right:
            raise Refused("wrong signature")
        return event


class VerifiesUnsignedClose(Sound):
    """A close without a signature is let through, and one with a wrong signature is not."""

    def verify(self, text, request):
        event = parse(text)
        if isinstance(event, dict) and event.get("event_name") == "buy.event.close" and "signature" not in event:
            return event
        return super().verify(text, request)


class ReadsUpToItsSignature(Sound):
    """What stands behind the signature is not verified."""

    def verify(self, text, request):
        event = parse(text)
        if not isinstance(event, dict):
            raise Refused("not an object")
        claim = self.claim(event)
        found = members(text)
        signatures = [start for name, start, _ in found if name == "signature"]
        if len(signatures) != 1 or '"signature"' not in text:
            raise Refused("not one signature")
        whole = unsigned(text)
        behind = text[: signatures[0]].rstrip(SPACE + ",") + "}"
        if not (self.matches(claim, whole) or self.matches(claim, behind)):
            raise Refused("wrong signature")
        return event


class FailsAfterActing(Sound):
    """Acts, and then answers 500 to the first delivery of each event."""

    def __init__(self):
        super().__init__()
        self.tried = set()

    def receive(self, body, request):
        status, answer = super().receive(body, request)
        return (500, "template not found") if status == 200 and self.first(body) else (status, answer)

    def first(self, body):
        with self.lock:
            is_first = body not in self.tried
            self.tried.add(body)
            return is_first

    def act(self, event, text):
        self.count(event)


class RemembersBeforeActing(FailsAfterActing):
    """Remembers an event, fails, and takes the repetition for done."""

    def act(self, event, text):
        if step(event) not in self.seen:
            self.seen.add(step(event))


class RedirectsAfterActing(Sound):
    def receive(self, body, request):
        status, answer = super().receive(body, request)
        return (303, "/thanks") if status == 200 else (status, answer)

    def act(self, event, text):
        self.count(event)


class RefusesAfterActing(Sound):
    """Acts, and then refuses long names."""

    def receive(self, body, request):
        status, answer = super().receive(body, request)
        return (422, "too long") if status == 200 and len(body) > 20_000 else (status, answer)


class NeedsPaid(Sound):
    """Acts on one spelling of the status alone."""

    def act(self, event, text):
        if event.get("crypto_payment_status") == "PAID":
            super().act(event, text)


class NeedsOrderOfEvents(Sound):
    """A credit counts only if the fiat was received before."""

    def __init__(self):
        super().__init__()
        self.states = {}

    def act(self, event, text):
        order, name = str(event.get("partner_order_id")), event["event_name"]
        if name == "event.buy.received.fiat_kyc_error":
            self.states[order] = "held"
        if name == "event.buy.credited.crypto" and self.states.get(order) == "held":
            return
        super().act(event, text)


class LosesAfterForgedClose(Sound):
    """A close ends an order before it is verified."""

    def __init__(self):
        super().__init__()
        self.closed = set()

    def before(self, text):
        event = parse(text)
        if isinstance(event, dict) and event.get("event_name") == "buy.event.close":
            self.closed.add(str(event.get("partner_order_id")))

    def act(self, event, text):
        if str(event.get("partner_order_id")) not in self.closed:
            super().act(event, text)


class RefusesThirdPartyError(Sound):
    def verify(self, text, request):
        event = super().verify(text, request)
        if "fiat_payment_status" not in event:
            raise Refused("no status")
        return event


class RefusesOldDates(Sound):
    def verify(self, text, request):
        if "2020" in request.headers.get("Date", ""):
            raise Refused("too old")
        return super().verify(text, request)


class NormalisesLetters(Sound):
    def decode(self, body):
        return unicodedata.normalize("NFC", super().decode(body))


class LimitsNames(Sound):
    """A column of 32 kB."""

    limit = 32_768


class BansAddresses(Sound):
    """Twenty refusals, and the address gets nothing but 401."""

    refusals = 0

    def receive(self, body, request):
        if self.refusals >= 20:
            return 401, "refused"
        status, answer = super().receive(body, request)
        if status == 401:
            self.refusals += 1
        return status, answer


class LimitsRates(Sound):
    """Sound: 429 with Retry-After above 60 requests in a fifth of a second."""

    def __init__(self):
        super().__init__()
        self.window, self.used = 0, 0

    def receive(self, body, request):
        with self.lock:
            now = int(time.monotonic() * 5)
            self.window, self.used = now, self.used + 1 if now == self.window else 1
            if self.used > 60:
                return 429, "slow down"
        return super().receive(body, request)


class Redirects(Sound):
    def refuse(self, error, text):
        return 302, "/login"


def subclasses(parent):
    for child in parent.__subclasses__():
        yield child
        yield from subclasses(child)


RECEIVERS = {child.__name__: child() for child in (Sound, *subclasses(Sound))}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle_any(self):
        url = urlsplit(self.path)
        _, name, *rest = url.path.split("/")
        receiver = RECEIVERS[name]
        if rest == ["handled"]:
            order = parse_qs(url.query)["partner_order_id"][0]
            return self.answer(200, json.dumps(receiver.counts.get(order, 0)))
        body = self.read_body(receiver)
        if body is None:
            return
        if self.command != "POST":
            return self.answer(405, "only POST")
        try:
            answer = receiver.receive(body, self)
        except Exception:
            answer = 500, "failed"
        if answer is None:
            self.close_connection = True
            return
        self.answer(*answer)

    do_GET = do_POST = handle_any

    def read_body(self, receiver):
        """`None` after an answer, or where none can be given."""
        if "Transfer-Encoding" in self.headers:
            return self.stop(400, "a length, please")
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit():
            return self.stop(400, "no length")
        left, chunks = int(length), []
        is_too_large = left > receiver.limit
        self.connection.settimeout(receiver.body_seconds)
        try:
            while left > 0:
                most = min(left, 4096)
                chunk = self.rfile.read1(most) if receiver.reads_once else self.rfile.read(most)
                if not chunk:
                    return self.stop(400, "not whole")
                left -= len(chunk)
                if not is_too_large:
                    chunks.append(chunk)
        except TimeoutError:
            return self.stop(408, "too slow")
        finally:
            self.connection.settimeout(None)
        if is_too_large:
            return self.stop(413, "too large")
        return b"".join(chunks[:1] if receiver.reads_once else chunks)

    def stop(self, status, text):
        self.close_connection = True
        self.answer(status, text)

    def answer(self, status, text):
        content = text.encode()
        where = f"location: {text}\r\n" if status in (302, 303) else ""
        ending = "connection: close\r\n" if self.close_connection else ""
        head = f"HTTP/1.1 {status} Answer\r\ncontent-length: {len(content)}\r\n{where}{ending}\r\n"
        # In one piece, so that the network waits for nothing.
        self.wfile.write(head.encode() + (b"" if self.command == "HEAD" else content))

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
