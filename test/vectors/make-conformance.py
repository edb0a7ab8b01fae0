"""Writes ../../vectors/signatures.json: signed bodies for the receivers of other languages, with the expected result.

    python3 test/vectors/make-conformance.py [another file to write]

Made without this package's code: a choice of signatures.json beside this file, which another implementation wrote, and
what is signed here by scheme_reference.py. docs/languages.md describes the format.
"""

import base64
import hashlib
import hmac
import itertools
import json
import pathlib
import sys

sys.dont_write_bytecode = True

from scheme_reference import (  # noqa: E402
    BODIES, CONSTRUCTIONS, ENCODINGS, KEY_SEPARATORS, LAYOUTS, MERCHANT, ORDER_KEYS, PARTNER, PUBLIC, SEPARATORS,
    SERIALIZATIONS, lay, order_key, quote_js, scheme_of, sign, signed_text,
)

CREDENTIALS = {"partnerPublicKey": PUBLIC, "partnerSecretKey": PARTNER, "merchantSecretKey": MERCHANT}
DEFAULT = scheme_of("hmac", "as-sent", "hex")
# What a vector does not say.
DEFAULTS = {"purpose": "order", "scheme": DEFAULT, "credentials": CREDENTIALS}
HERE = pathlib.Path(__file__).parent
vectors = []


def add(name, expect, body, purpose="order", scheme=DEFAULT, signed=None, credentials=CREDENTIALS):
    facts = {"purpose": purpose, "scheme": scheme, "credentials": credentials}
    own = {fact: value for fact, value in facts.items() if value != DEFAULTS[fact]}
    vectors.append({"name": name, "expect": expect} | own | bytes_of(body) | ({} if signed is None else {"signed": signed}))


def bytes_of(body):
    return {"bodyBase64": base64.b64encode(body).decode()} if isinstance(body, bytes) else {"body": body}


def key_for(purpose, scheme=DEFAULT):
    return order_key(scheme) if purpose == "order" else PARTNER


def hmac_hex(key, message):
    return hmac.new(key.encode(), message if isinstance(message, bytes) else message.encode(), hashlib.sha512).hexdigest()


# --- By another implementation ---------------------------------------------------------------------------------------

FORGERIES = ("dropped", "duplicated", "extended", "flip-byte", "spaced", "truncated", "wrong-key-order", "wrong-purpose")


def add_others():
    """As many as it takes to have every scheme with every layout, and with every forgery, for either purpose."""
    covered = set()
    for vector in json.loads((HERE / "signatures.json").read_text(encoding="utf-8"))["vectors"]:
        name = vector["name"]
        kind = next((forgery for forgery in FORGERIES if name.endswith("-" + forgery)), "")
        layout = "" if kind else name.rsplit("-", 1)[1]
        scheme = vector["scheme"]
        aspect = (scheme["construction"], scheme["encoding"], kind or name.split(scheme["encoding"] + "-", 1)[1])
        # These give the keys under each other's names, which is not what a receiver is configured with.
        if kind == "wrong-key-order":
            continue
        if aspect in covered or (vector["purpose"], kind, layout, scheme["construction"]) in covered:
            continue
        covered |= {aspect, (vector["purpose"], kind, layout, scheme["construction"])}
        add(
            f"other implementation: {name}", "refuse" if kind else "accept", vector["sentText"], vector["purpose"], scheme,
            None if kind else vector["signedText"],
            {member: vector[member] for member in ("partnerSecretKey", "merchantSecretKey")},
        )


# --- Events ----------------------------------------------------------------------------------------------------------

def event(name, fiat, crypto, **changes):
    """(name, JSON text) of each member, as a sender might write it."""
    members = {
        "event_name": quote_js(name), "partner_order_id": '"PO-2025-000123"', "platform_order_ref": '"ref_7d41c09e"',
        "fiat_amount_to_pay": "15000.50", "crypto_amount_to_receive": "9.750017", "exchange_rate": "1538.510",
        "pair": '"NGN/USDT"', "fiat_currency": '"NGN"', "buyer_crypto_address": '"TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP"',
        "chain": '"usdt-trc20"', "fiat_payment_status": quote_js(fiat), "crypto_payment_status": quote_js(crypto),
        "payer_into_account": '{"account_name":"Ọlá Adébáyọ̀","account_number":"0123456789","bank_name":"Crédit \\/ Épargne"}',
        "payment_link": "null", "crypto_txn_hash": "null",
        "partner_callback_url": '"https:\\/\\/partner.example/orders?v=1&s=2"',
        "transactional_kyc": '{"email":"","phone":"+2348012345678","first_name":"Zo\\u00eb","last_name":"😀"}',
    }
    return list((members | changes).items())


KYC = {"created_at": '"2025-01-02T03:04:05.678Z"', "sender_name": '"ỌLÁ ADÉBÁYỌ̀"'}
EVENTS = {
    "init": event("event.buy.init", "PENDING", "PENDING"),
    "fiat received": event("event.buy.received.fiat", "PAID", "STARTED", payment_link='"https://pay.example/?a=1&b=2"'),
    "no KYC": event(
        "event.buy.received.fiat_kyc_error", "PAID", "STARTED", **KYC, default_kyc_url='"https:\\/\\/kyc.example"',
        message='"Ask the buyer to do KYC."', kyc_error_type='"NO_KYC"',
    ),
    "third-party payment": event(
        "event.buy.received.fiat_kyc_error", "PAID", "STARTED", **KYC, default_kyc_url="null",
        message='"The payer\\u2019s name differs."', kyc_error_type='"THIRD_PARTY_PAYMENT"',
    ),
    "third-party error": event("event.buy.third_party_error", "PAID", "STARTED"),
    "credited": event("event.buy.credited.crypto", "PAID", "PAID", crypto_txn_hash='"9f2b6c1d4e8a7053"'),
    "close": event(
        "buy.event.close", "PAID", "STARTED", exchange_rate='"1538.51"', pair='"NGN/EUSD"', chain='"eusd-mob"',
        meta_data='{"status":"refunded","message":"","refund_account":"0123456789","amount_refunded":"14900.50","fee":100.0}',
    ),
}


def add_signed(name, members, purpose="order", scheme=DEFAULT, layout="compact", place=None):
    """Adds members with their right signature, by default as the last one. Returns the text without it."""
    pieces = LAYOUTS[layout]
    text = lay(members, *pieces)
    signed = signed_text(scheme["serialization"], scheme.get("joiner", ""), text)
    signature = sign(scheme, key_for(purpose, scheme), signed)
    at = len(members) if place is None else place
    add(name, "accept", lay(members[:at] + [("signature", quote_js(signature))] + members[at:], *pieces), purpose, scheme, signed)
    return signature


def add_events():
    places = itertools.cycle((None, 0, 5))
    layouts = itertools.cycle(LAYOUTS)
    for (name, members), _ in itertools.product(EVENTS.items(), range(2)):
        layout, place = next(layouts), next(places)
        where = {None: "last", 0: "first", 5: "in the middle"}[place]
        add_signed(f"event {name}: {layout}, signature {where}", members, layout=layout, place=place)


# --- Schemes ---------------------------------------------------------------------------------------------------------

def add_schemes():
    small = ("order", "nested, unsorted", "slashes", "accents", "emoji", "index names", "words", "empty things")
    bodies = itertools.cycle(small)
    encodings, constructions = itertools.cycle(ENCODINGS), itertools.cycle(CONSTRUCTIONS)
    purposes = itertools.cycle(("order", "general", "order"))
    pairs = list(itertools.product(CONSTRUCTIONS, ENCODINGS))
    schemes = [scheme_of(construction, "as-sent", encoding) for construction, encoding in pairs]
    schemes += [scheme_of(next(constructions), each, next(encodings), joiner="|") for each in SERIALIZATIONS for _ in range(3)]
    schemes += [scheme_of(construction, "compact", "hex", each) for construction, each in zip(CONSTRUCTIONS[1:] * 2, SEPARATORS[1:])]
    for scheme in schemes:
        body, purpose = next(bodies), next(purposes)
        members = BODIES[body]
        title = " ".join(scheme[part] for part in ("construction", "serialization", "encoding"))
        title += f", separator {scheme['separator']!r}" if "separator" in scheme else ""
        name = f"{purpose}, {title}: {body}, "
        count = sum(vector["name"].startswith(name) for vector in vectors)
        layout = list(LAYOUTS)[(count + len(vectors)) % len(LAYOUTS)]
        signature = add_signed(name + layout, members, purpose, scheme, layout, count)
        changed = [("added", "true"), *members, ("signature", quote_js(signature))]
        if scheme["encoding"] == "hex" or scheme["serialization"] != "as-sent" and count == 0:
            add(f"{name}tampered", "refuse", lay(changed, *LAYOUTS["compact"]), purpose, scheme)
    for key, separator in itertools.product(ORDER_KEYS, KEY_SEPARATORS[:2]):
        scheme = scheme_of("hmac", "as-sent", "hex", order=key, key_separator=separator)
        add_signed(f"key for orders {key}, separator {separator!r}", BODIES["order"], scheme=scheme)
    # Where the parsed value is signed, these would be signed as 0 and null.
    for serialization, number in itertools.product(("compact", "sorted", "base64-compact"), ("-0", "1e999")):
        scheme = scheme_of("hmac", serialization, "hex")
        written = {"-0": "0", "1e999": "null"}[number]
        signed = signed_text(serialization, "", f'{{"a":{written}}}')
        signature = sign(scheme, order_key(scheme), signed)
        add(f"{number} under {serialization}, which signs {written}", "refuse", f'{{"a":{number},"signature":"{signature}"}}', scheme=scheme)


# --- What a receiver meets, in the default scheme --------------------------------------------------------------------

CREDITED = lay(EVENTS["credited"], *LAYOUTS["compact"])
SMALL = '{"event_name":"event.buy.init","partner_order_id":"PO-2025-000123","pair":"NGN/USDT"}'


def with_member(text, member, last=True):
    return f"{text[:-1]},{member}}}" if last else f"{{{member},{text[1:]}"


def authentic(name, unsigned, write=None):
    """`write` puts the member in; by default as the last one."""
    signature = hmac_hex(order_key(DEFAULT), unsigned)
    body = (write or (lambda s: with_member(unsigned, f'"signature":"{s}"')))(signature)
    add(name, "accept", body, signed=unsigned)


def refused(name, body, purpose="order"):
    add(name, "refuse", body, purpose)


def add_authentic():
    more = lambda member: with_member(CREDITED, member)
    authentic("name of the signature escaped", CREDITED, lambda s: with_member(CREDITED, f'"\\u0073ignatur\\u0065":"{s}"'))
    authentic("signature escaped", CREDITED, lambda s: with_member(CREDITED, f'"signature":"\\u{ord(s[0]):04x}{s[1:]}"'))
    authentic("signature first", CREDITED, lambda s: with_member(CREDITED, f'"signature":"{s}"', last=False))
    authentic("white space around the signature", CREDITED, lambda s: f'{CREDITED[:-1]} ,\r\n\t"signature" : "{s}"}}')
    authentic("nothing but a signature", "{}", lambda s: f'{{ "signature": "{s}" }}')
    authentic("white space around the body", f" \n{CREDITED}\r\n", lambda s: " \n" + with_member(CREDITED, f'"signature":"{s}"') + "\r\n")
    authentic("a nested signature", more('"more":{"signature":"inner"},"list":[{"signature":1}]'))
    authentic("the word in texts and names", more('"more":"\\"signature\\":\\"x\\",","Signature":"x","signature ":"x"'))
    authentic("an integer-like name after the signature", more('"1":"x"'), lambda s: with_member(CREDITED, f'"signature":"{s}","1":"x"'))
    authentic("numbers that parsing changes", more('"more":[10.0,1e2,-0,-0.0,9007199254740993,0.10,12345678901234567890.00]'))
    authentic("a number out of range", more('"more":1e999'))
    authentic("escapes that parsing loses", more('"more":"\\/\\u00e9\\u00E9\\ud83d\\ude00\\u0000\\u2028\\u0022"'))
    authentic("text that other writers escape", more('"more":"\u2028\u2029\u007f\ufeff<&\'>/😀"'))
    authentic("text that normalisation changes", more('"more":"e\u0301 \u1e9b\u0323 \uf900"'))
    authentic("a member twice", more('"pair":"NGN/USDT"'))
    authentic("names of prototypes", more('"__proto__":{"a":1},"constructor":1,"toString":null'))
    authentic("nested 200 deep", more(f'"more":{"[" * 200}{"]" * 200}'))
    authentic("an unknown event", '{"event_name":"event.sell.init"}')
    general = '{"email":"dev@acme.example","partner_code":"ac\\/me"}'
    signature = hmac_hex(PARTNER, general)
    add("a general request", "accept", with_member(general, f'"signature":"{signature}"'), "general", signed=general)
    refused("a general request signed with the key for orders", with_member(general, f'"signature":"{hmac_hex(order_key(DEFAULT), general)}"'), "general")
    refused("a general request taken for an order event", with_member(general, f'"signature":"{signature}"'))


def add_forged():
    key = order_key(DEFAULT)
    right = hmac_hex(key, CREDITED)
    signed = lambda s: with_member(CREDITED, f'"signature":"{s}"')
    keys = {
        "the partner secret alone": PARTNER, "the merchant secret alone": MERCHANT, "the secrets the other way round": PARTNER + MERCHANT,
        "a separator between the secrets": f"{MERCHANT}:{PARTNER}", "the public key": PUBLIC, "the public key and the partner secret": PUBLIC + PARTNER,
        "another partner's keys": "sk_merchant_vectorM2sk_partner_vectorP2", "no key": "", "a blank behind the key": key + " ",
    }
    for name, other in keys.items():
        refused(f"signed with {name}", signed(hmac_hex(other, CREDITED)))
    sha = lambda text: hashlib.sha512(text.encode()).hexdigest()
    for name, other in {"no key": CREDITED, "the key behind": CREDITED + key, "the key before": key + CREDITED}.items():
        refused(f"a plain hash with {name}", signed(sha(other)))
    for name, old, new in (
        ("an amount", "15000.50", "15000.51"), ("the spelling of a number", "15000.50", "15000.5"), ("an address", "TSiz", "TSiy"),
        ("the order", "000123", "000124"), ("a status", '"PAID"', '"paid"'), ("a name", "chain", "Chain"), ("null", "null", '""'),
        ("the spelling of a slash", "\\/", "/"), ("the spelling of a letter", "\\u00eb", "ë"), ("white space", ",", ", "),
        ("the normal form of a letter", "ọ̀", "o\u0323\u0300"), ("a nested value", "0123456789", "9876543210"),
    ):
        changed = CREDITED.replace(old, new)
        assert changed != CREDITED, name
        refused(f"{name} changed", with_member(changed, f'"signature":"{right}"'))
    refused("a member added", with_member(CREDITED, f'"more":1,"signature":"{right}"'))
    refused("a member added behind the signature", with_member(CREDITED, f'"signature":"{right}","more":1'))
    refused("a member overridden", with_member(CREDITED, f'"fiat_amount_to_pay":1,"signature":"{right}"'))
    refused("a member dropped", with_member(CREDITED.replace('"pair":"NGN/USDT",', ""), f'"signature":"{right}"'))
    refused("members swapped", with_member(lay(EVENTS["credited"][1:] + EVENTS["credited"][:1], *LAYOUTS["compact"]), f'"signature":"{right}"'))
    refused("a NUL added at the end", signed(right) + "\0")
    refused("written again by a parser", json.dumps(json.loads(signed(right)), ensure_ascii=False, separators=(",", ":")))

    right = hmac_hex(key, SMALL)
    other = {"0": "1"}.get(right[0], "0") + right[1:]
    claims = {
        "with another digit": f'"{other}"', "in upper case": f'"{right.upper()}"', "cut off": f'"{right[:-2]}"', "with an odd length": f'"{right[:-1]}"',
        "with more behind": f'"{right}00"', "with its first half only": f'"{right[:64]}"', "twice in one": f'"{right}{right}"', "in blanks": f'" {right} "', "with a line feed": f'"{right}\\n"',
        "with a NUL": f'"{right}\\u0000"', "with 0x": f'"0x{right}"', "with a name": f'"sha512={right}"', "in base64": f'"{base64.b64encode(bytes.fromhex(right)).decode()}"',
        "in full-width digits": quote_js("".join(chr(ord(c) + 0xFEE0) for c in right)), "with a digit that is none": f'"{right[:-1]}g"', "that is empty": '""', "of zeros": f'"{"0" * 128}"',
        "that is null": "null", "that is true": "true", "that is 0": "0", "in a list": f'["{right}"]', "in an object": f'{{"value":"{right}"}}',
    }
    for name, claim in claims.items():
        refused(f"a signature {name}", with_member(SMALL, f'"signature":{claim}'))
    refused("no signature", SMALL)
    refused("a signature under another name", with_member(SMALL, f'"Signature":"{right}"'))
    refused("a signature inside another member", with_member(SMALL, f'"meta":{{"signature":"{right}"}}'))
    member, forged = f'"signature":"{right}"', f'"signature":"{other}"'
    for name, both in {"right and wrong": f"{member},{forged}", "wrong and right": f"{forged},{member}", "both right": f"{member},{member}"}.items():
        refused(f"two signatures, {name}", with_member(SMALL, both))
    refused("two signatures, one of them escaped", with_member(SMALL, f'{member},"\\u0073ignature":"{right}"'))
    # Right for those who cut only one of them out.
    other_one = with_member(SMALL, forged)
    right = hmac_hex(key, other_one)
    refused("two signatures, the last right over the first", with_member(other_one, f'"signature":"{right}"'))
    refused("two signatures, the first right over the last", with_member(other_one, f'"signature":"{right}"', last=False))
    refused("two signatures, first and last", with_member(with_member(SMALL, member), member, last=False))


def add_keyless():
    """What a receiver that was given no key must not take: anybody can sign with the empty one."""
    nobody = {"partnerPublicKey": PUBLIC, "partnerSecretKey": "", "merchantSecretKey": ""}
    for purpose in ("order", "general"):
        body = with_member(SMALL, f'"signature":"{hmac_hex("", SMALL)}"')
        add(f"signed with the empty key, by the keys of an empty variable: {purpose}", "refuse", body, purpose, credentials=nobody)


def add_broken():
    key = order_key(DEFAULT)
    right = hmac_hex(key, SMALL)
    whole = with_member(SMALL, f'"signature":"{right}"')
    for name, body in {
        "nothing": "", "a blank": " ", "null": "null", "a number": "1", "a text": f'"{right}"', "a list": f"[{whole}]", "a list of nothing": "[]", "HTML": "<html></html>", "a form": f"signature={right}",
        "the body cut off": whole[:-1], "the body twice": whole + whole, "something behind the body": whole + "x", "a bracket more": whole + "}", "a comment": whole + "//",
    }.items():
        refused(f"not a JSON object: {name}", body)
    # Signed with the right key, but no JSON: some parsers take it all the same.
    for name, member in {
        "NaN": '"a":NaN', "Infinity": '"a":-Infinity', "a leading zero": '"a":01', "a bare fraction": '"a":.5', "a hexadecimal number": '"a":0x1', "single quotes": "'a':1", "a bare name": "a:1",
        "a control character": '"a":"\t"', "an unknown escape": '"a":"\\x41"', "a comma at the end of a list": '"a":[1,]', "a comment inside": '"a":/**/1', "undefined": '"a":undefined', "a no-break space": '\u00a0"a":1',
    }.items():
        text = with_member(SMALL, member)
        refused(f"rightly signed, but not JSON: {name}", with_member(text, f'"signature":"{hmac_hex(key, text)}"'))
    refused("two byte order marks before the body", ("\ufeff" * 2 + whole).encode())
    refused("a byte order mark behind the body", (whole + "\ufeff").encode())
    refused("in UTF-16", whole.encode("utf-16-le"))
    refused("in UTF-16 with a byte order mark", whole.encode("utf-16"))
    refused("nothing but NULs", bytes(64))
    small = b'{"event_name":"event.buy.init","more":"?"}'
    for name, piece in {
        "a byte that is none": b"\xff", "Latin-1": b"Zo\xeb", "a sequence cut off": b"\xe2\x82", "a lone continuation": b"\x80", "an overlong slash": b"\xc0\xaf",
        "a surrogate": b"\xed\xa0\x80", "beyond Unicode": b"\xf4\x90\x80\x80",
    }.items():
        text = small.replace(b"?", piece)
        refused(f"rightly signed, but not UTF-8: {name}", text[:-1] + f',"signature":"{hmac_hex(key, text)}"}}'.encode())
    # Right for those who replace what they cannot read, or leave it out.
    for name, read in {"as U+FFFD": "\ufffd", "as ?": "?", "as nothing": ""}.items():
        claim = f',"signature":"{hmac_hex(key, small.replace(b"?", read.encode()))}"}}'
        refused(f"not UTF-8, and signed {name}", small[:-1].replace(b"?", b"\xff") + claim.encode())
    for name, piece in {"lists": "[", "objects": '{"":'}.items():
        refused(f"2000 {name} in each other, without an end", f'{{"signature":"{right}","a":{piece * 2000}')
    refused("2000 lists in each other, forged", f'{{"signature":"{right}","a":{"[" * 2000}{"]" * 2000}}}')


add_events()
add_authentic()
add_forged()
add_broken()
add_schemes()
add_others()
add_keyless()

names = [vector["name"] for vector in vectors]
assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
head = {
    "$schema": "./signatures.schema.json",
    "about": "Bodies as a receiver gets them, and whether it has to accept them; made without the code of partner-exchange-sdk. Its docs/languages.md describes the format.",
    "version": 1,
    "defaults": DEFAULTS,
}
lines = ",\n".join(json.dumps(vector, ensure_ascii=False, separators=(",", ":")) for vector in vectors)
opened = json.dumps(head, ensure_ascii=False, indent=1)[:-2]
target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[1] / "vectors" / "signatures.json"
target.write_text(f'{opened},\n "vectors": [\n{lines}\n]}}\n', encoding="utf-8")
