/**
 * A small order-like body whose signature tells all schemes apart. Have a deployment sign it, or send it yourself and
 * see what is accepted.
 *
 * It is a text, not an object: parsed and written again it loses what makes it useful (`1.0`, the place of `"10"`). No
 * two known schemes sign it alike.
 */
export function probeBody(): string {
  return probe;
}

// Names out of order, some of them integer-like; U+FF41 and U+1F511, which sort differently by code point and by code
// unit, at the top and nested; everything in JSON that serializers write differently; no number beyond a double.
const probe =
  '{"partner_order_id":"probe-1","10":"ten","2":"two","fiat_amount":1.0,"rate":1e-7,"pair":"NGN/USDT",' +
  '"buyer":{"last_name":"Adébáyọ̀","first_name":"Zoë 🔑","phone":"","accounts":[{"number":"0123","bank":null}]},' +
  '"payment_link":null,"kyc":true,"note":"","\u{1F511}":"a=1&b=2","\uFF41":"<é|:.,>",' +
  '"meta":{"\u{1F511}":1,"\uFF41":2,"10":3,"9":4}}';
