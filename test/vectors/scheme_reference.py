"""What each part of a signature scheme means, in Python and without this package's code; and bodies to sign.

Everything is written from the definitions in `src/signature/signature-scheme.ts`: how ECMAScript writes a number and
orders the names of an object (ECMA-262, Number::toString and OrdinaryOwnPropertyKeys), and what PHP escapes
(php-src, ext/json/json_encoder.c). Where Python's own `json.dumps` has an opinion, it is asked, and has to agree.
"""

import base64
import hashlib
import hmac
import json
import re
from decimal import Decimal

PUBLIC = "pk_partner_vectorA1"
PARTNER = "sk_partner_vectorP1"
MERCHANT = "sk_merchant_vectorM1"

CONSTRUCTIONS = ("hmac", "hash-suffix", "hash-prefix")
ENCODINGS = ("hex", "hex-upper", "base64", "base64-hex")
SERIALIZATIONS = (
    "as-sent", "compact", "sorted", "python", "python-sorted", "php",
    "values", "query", "base64", "base64-compact", "base64-sorted",
    "minified", "minified-sorted",
)
SEPARATORS = ("", ":", "|", ".", "\n", "—é😀")
JOINERS = ("", ",", "|", "\n", "€")
ORDER_KEYS = ("merchant+partner", "partner+merchant", "merchant", "partner", "public+partner")
KEY_SEPARATORS = ("", ":", "|", "-", "é")

# Members as (name, JSON text): what was written, before anything was parsed. Every serialisation meets
# every body.
BODIES = {
    "order": [("partner_order_id", '"A-1001"'), ("fiat_amount_to_pay", "15000.10"), ("pair", '"NGN/USDT"'), ("payment_link", "null"), ("payer", '{"name":"Ada Obi","bank":"First Bank"}')],
    "alone": [],
    "index names": [("b", "1"), ("10", "2"), ("9", "3"), ("01", "4"), ("a", "5"), ("4294967295", "6"), ("4294967294", "7"), ("0", "8"), ("-1", "9"), ("1.5", "0")],
    "nested, unsorted": [("z", '{"y":{"d":1,"c":[{"b":2,"a":3}]},"10":[],"9":{"2":1,"1":2}}'), ("a", '[[{"q":1,"p":2}],{}]')],
    "slashes": [("a/b", '"https:\\/\\/a.example\\/x?y=1&z=2"'), ("c", '["/","//"]'), ("</b>", '"<\'&\'>"')],
    "accents": [("é", '"é\\u00e9\\u00E9e\\u0301"'), ("ß", '"ẞ"'), ("e", '{"ọ":"ñ"}')],
    "emoji": [("😀", '"\\ud83d\\ude00 😀"'), ("👩\u200d👧", '["\\uD83D\\uDC69"]'), ("x", '"🇳🇬"')],
    # By code point 😀 (U+1F600) is the greatest; by code unit it is D83D, before U+E000, U+FF21 and U+FFFF.
    "code units": [("\uffff", "1"), ("😀", "2"), ("\ue000", "3"), ("\uff21", "4"), ("é", "5"), ("Z", "6"), ("a", "7"), ("aa", "8"), ("", "9")],
    "code units, nested": [("o", '{"\uffff":1,"😀":2,"\uff21":[{"\ue000":3,"𐀀":4}]}'), ("A", "1"), ("_", "2")],
    "number spelling": [("n1", "1.0"), ("n2", "15000.10"), ("n3", "1e2"), ("n4", "1E+2"), ("n5", "[100.0e-2,-0,-0.0,0e9]")],
    "small and large numbers": [("s", "[1e-7,0.000001,0.0000001,5e-324,1.25e-10]"), ("l", "[1e20,1e21,123456789012345680000,2.5e+25,1.7976931348623157e308]"), ("f", "0.1")],
    "long numbers": [("n1", "12345678901234567890"), ("n2", "9007199254740993"), ("n3", "0.1000000000000000055511151231257827"), ("n4", "-98765432109876543210"), ("n5", "1e999")],
    "words": [("t", "true"), ("f", "false"), ("n", "null"), ("l", '[null,true,false,[null]]'), ("s", '"null"')],
    "empty things": [("s", '""'), ("", '"\\u0020"'), ("a", "[]"), ("o", "{}"), ("l", '[[],{},"",[{}]]'), ("n", "null")],
    "control characters": [("c", '"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\\"\\\\"'), ("\t", '"\\u000A"'), ("l", '["\\u001B"]')],
    "line separators": [("\u2028", '"\u2028\\u2029\u00a0\ufeff"'), ("n", '{"\u2029":1}'), ("a", '"\u0085\\u0085"')],
    "separators in values": [("a=b", '"1&c=2"'), ("c", '"x,y|z\\n"'), ("d", '":€."'), ("b", '["a,b",{"c=d":"&"}]')],
    "prototype names": [("toString", "1"), ("__proto__", '{"b":1,"a":2}'), ("constructor", '"x"'), ("hasOwnProperty", "[]")],
    "nested signature": [("s", '{"signature":"inner","a":1}'), ("word", '"signature"'), ("text", '"\\"signature\\":\\"x\\","'), ("signatures", "[]"), ("Signature", "1")],
    "repeated names": [("b", "1"), ("a", '{"d":1}'), ("b", '{"c":2,"a":1}'), ("d", "4")],
}
DELETE = [("d", '"\u007f\\u007F"'), ("\u007f", "1"), ("c", "[]")]
# The definitions of these say nothing of a name that occurs twice, and their senders never write one.
NO_REPETITION = {"python", "php", "values", "query", "minified"}
EVERYTHING = [
    ("b", '"a/b é😀\u2028"'), ("a", '{"z":1,"10":[1.5,1e21,1e-7],"9":null,"y":{"d":"","c":[]}}'), ("ａ", "true"),
    ("😀", "[]"), ("é=&", "{}"), ("o", "-12.25"),
]

# --- Texts -----------------------------------------------------------------------------------------------------------

class Literal(str):
    """A number, true, false or null, as it stands in the text."""


class Members(list):
    """An object: its (name, value) pairs in the order of the text."""


def parse(text):
    def words(value):
        if isinstance(value, Members):
            return Members((name, words(member)) for name, member in value)
        if isinstance(value, list):
            return [words(element) for element in value]
        return Literal({None: "null", True: "true", False: "false"}[value]) if value is None or value is True or value is False else value

    return words(json.loads(text, parse_int=Literal, parse_float=Literal, object_pairs_hook=Members))


SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quote(text, escaped):
    def character(c):
        if c in SHORT:
            return SHORT[c]
        if not escaped(c):
            return c
        units = c.encode("utf-16-be", "surrogatepass")
        return "".join("\\u%02x%02x" % pair for pair in zip(units[::2], units[1::2]))

    return '"' + "".join(map(character, text)) + '"'


def quote_js(text):
    return quote(text, lambda c: c < " " or "\ud800" <= c <= "\udfff")


def quote_python(text):
    written = quote(text, lambda c: not " " <= c <= "~")
    assert written == json.dumps(text)
    return written


def quote_php(text):
    # U+007F is ASCII, and PHP writes it as it is.
    return quote(text, lambda c: c < " " or c > "\u007f").replace("/", "\\/")


def number_js(literal):
    """Number::toString of the double nearest to a literal, and "null" for what is beyond doubles."""
    value = float(literal)
    if value in (float("inf"), float("-inf")):
        return "null"
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits))
    stripped = text.rstrip("0")
    k, n = len(stripped), len(text) + exponent
    if k <= n <= 21:
        written = stripped + "0" * (n - k)
    elif 0 < n <= 21:
        written = stripped[:n] + "." + stripped[n:]
    elif -6 < n <= 0:
        written = "0." + "0" * -n + stripped
    else:
        mantissa = stripped[0] + ("." + stripped[1:] if k > 1 else "")
        written = f"{mantissa}e{'-' if n < 1 else '+'}{abs(n - 1)}"
    assert float(written) == abs(value)
    return ("-" if sign else "") + written


def once(members):
    """As every parser into a map has it: a repeated name stands where it first stood, with its last value."""
    return Members(dict(members).items())


def js_order(members):
    is_index = lambda name: re.fullmatch("0|[1-9][0-9]*", name, re.ASCII) and int(name) < 2**32 - 1
    first = sorted((pair for pair in members if is_index(pair[0])), key=lambda pair: int(pair[0]))
    return first + [pair for pair in members if not is_index(pair[0])]


def code_unit_order(members):
    return sorted(members, key=lambda pair: pair[0].encode("utf-16-be", "surrogatepass"))


def code_point_order(members):
    return sorted(members, key=lambda pair: pair[0])


def write(value, quoted, item=",", colon=":", literal=str, order=list, inner=None):
    """`order` is for the outermost object; `inner` for those inside, when it is another."""
    def nested(member):
        return write(member, quoted, item, colon, literal, inner or order)

    if isinstance(value, Literal):
        is_word = value in ("null", "true", "false")
        return str(value) if is_word else literal(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Members):
        return "{" + item.join(quoted(name) + colon + nested(member) for name, member in order(value)) + "}"
    return "[" + item.join(map(nested, value)) + "]"


def compact(value, order=js_order, inner=None):
    after = lambda by: lambda members: by(once(members))
    return write(value, quote_js, literal=number_js, order=after(order), inner=after(inner or order))


def plain(value):
    if isinstance(value, Literal):
        return "" if value == "null" else str(value)
    return value if isinstance(value, str) else write(value, quote_js)


def python(text, value, sort):
    written = write(value, quote_python, ", ", ": ", order=(lambda members: code_point_order(once(members))) if sort else list)
    # Where Python spells the numbers as they are spelled, it writes all of it itself.
    own = json.dumps(json.loads(text), sort_keys=sort)
    if all(json.dumps(json.loads(number)) == number for number in literals(value)):
        assert written == own, (written, own)
    return written


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s"{}\[\]:,]+')


def minified(text, sort):
    """The tokens as they are spelled, with nothing between them; by way of no parser but for the order of names."""
    tokens = TOKEN.findall(text)
    at = 0

    def value():
        nonlocal at
        token, at = tokens[at], at + 1
        if token not in "{[":
            return token
        closing, members = {"{": "}", "[": "]"}[token], []
        while tokens[at] != closing:
            at += tokens[at] == ","
            if token == "[":
                members.append((None, value()))
                continue
            name, at = tokens[at], at + 2
            members.append((name, value()))
        at += 1
        if sort and token == "{":
            # A map keeps the last of two equal names.
            members = sorted({json.loads(name): (name, member) for name, member in members}.items())
            members = [member for _, member in members]
        return token + ",".join(member if name is None else f"{name}:{member}" for name, member in members) + closing

    written = value()
    assert sort or written == "".join(tokens)
    # Where Python writes each token as it is spelled, it writes all of it itself.
    for ascii_only in (False, True):
        own = lambda piece, **options: json.dumps(json.loads(piece), ensure_ascii=ascii_only, separators=(",", ":"), **options)
        if all(own(token) == token for token in tokens if token not in "{}[]:,"):
            assert written == own(text, sort_keys=sort), (written, text)
    return written


def literals(value):
    if isinstance(value, Literal):
        yield value
    elif isinstance(value, Members):
        for _, member in value:
            yield from literals(member)
    elif isinstance(value, list):
        for element in value:
            yield from literals(element)


def signed_text(serialization, joiner, text):
    value = parse(text)
    of_base64 = lambda inner: base64.b64encode(inner.encode()).decode()
    return {
        "as-sent": lambda: text,
        "compact": lambda: compact(value),
        "sorted": lambda: compact(value, code_unit_order),
        "python": lambda: python(text, value, False),
        "python-sorted": lambda: python(text, value, True),
        "php": lambda: write(value, quote_php),
        "values": lambda: joiner.join(plain(member) for _, member in code_unit_order(value)),
        "query": lambda: "&".join(f"{name}={plain(member)}" for name, member in code_unit_order(value)),
        "minified": lambda: minified(text, False),
        "minified-sorted": lambda: minified(text, True),
        "base64": lambda: of_base64(text),
        "base64-compact": lambda: of_base64(compact(value)),
        "base64-sorted": lambda: of_base64(compact(value, code_unit_order)),
    }[serialization]()


# --- Digests ---------------------------------------------------------------------------------------------------------

def order_key(scheme):
    parts = {
        "merchant+partner": (MERCHANT, PARTNER), "partner+merchant": (PARTNER, MERCHANT),
        "merchant": (MERCHANT,), "partner": (PARTNER,), "public+partner": (PUBLIC, PARTNER),
    }[scheme.get("orderKey", "merchant+partner")]
    return scheme.get("keySeparator", "").join(parts)


def sign(scheme, key, text):
    secret, message, separator = key.encode(), text.encode(), scheme.get("separator", "").encode()
    digest = {
        "hmac": lambda: hmac.new(secret, message, hashlib.sha512),
        "hash-suffix": lambda: hashlib.sha512(message + separator + secret),
        "hash-prefix": lambda: hashlib.sha512(secret + separator + message),
    }[scheme["construction"]]()
    return {
        "hex": digest.hexdigest,
        "hex-upper": lambda: digest.hexdigest().upper(),
        "base64": lambda: base64.b64encode(digest.digest()).decode(),
        "base64-hex": lambda: base64.b64encode(digest.hexdigest().encode()).decode(),
    }[scheme["encoding"]]()


# --- Layouts ---------------------------------------------------------------------------------------------------------

def lay(members, opened, item, colon, closed):
    return "{" + opened + item.join(quote_js(name) + colon + text for name, text in members) + closed + "}" if members else "{}"


LAYOUTS = {
    "compact": ("", ",", ":", ""),
    "python": ("", ", ", ": ", ""),
    "padded": (" ", " , ", " : ", " "),
    "indented": ("\n  ", ",\n  ", ": ", "\n"),
    "tabs and CRLF": ("\r\n\t", ",\r\n\t", ":\t", "\r\n"),
}


def scheme_of(construction, serialization, encoding, separator="", joiner="", order="merchant+partner", key_separator=""):
    scheme = {"construction": construction, "serialization": serialization, "encoding": encoding}
    if separator and construction != "hmac":
        scheme["separator"] = separator
    if joiner and serialization.startswith("values"):
        scheme["joiner"] = joiner
    if order != "merchant+partner":
        scheme["orderKey"] = order
    if key_separator:
        scheme["keySeparator"] = key_separator
    return scheme
