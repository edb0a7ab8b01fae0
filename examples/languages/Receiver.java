// `listen 3000` receives signed order events, `order A-1001` prints a signed order. Java 17 or later.
// Set PARTNER_SECRET_KEY and MERCHANT_SECRET_KEY.
import com.sun.net.httpserver.*;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.*;
import java.util.regex.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import static java.nio.charset.StandardCharsets.UTF_8;

class Receiver {
    static final String STRING = "\"[^\"\\\\\\x00-\\x1f]*+(?:\\\\(?:[\"\\\\/bfnrt]|u[0-9a-fA-F]{4})[^\"\\\\\\x00-\\x1f]*+)*+\"";
    static final String SCALAR = "-?(?:0|[1-9][0-9]*+)(?:\\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null";
    static final String INNERMOST = "\\{(?:\1:[\1\2](?:,\1:[\1\2])*)?\\}|\\[(?:[\1\2](?:,[\1\2])*)?\\]";

    /** The JDK has no JSON: writes strings as \1, other values as \2, and shrinks what is inside brackets, 500 levels at most. */
    static boolean isJsonObject(String text) {
        String shape = text.replaceAll(STRING, "\1").replaceAll(SCALAR, "\2").replaceAll("[ \t\n\r]", "");
        if (text.matches("(?s).*[\1\2].*") || !shape.startsWith("{")) return false;
        for (int level = 0; level < 500 && shape.length() > 1; level++) shape = shape.replaceAll(INNERMOST, "\2");
        return shape.equals("\2");
    }

    /** A name or a signature: escapes that neither needs stay as they are. */
    static String unescape(String literal) {
        return Pattern.compile("\\\\u([0-9a-fA-F]{4})").matcher(literal).replaceAll(each -> Matcher.quoteReplacement("" + (char) Integer.parseInt(each.group(1), 16)));
    }

    /** The text without this member and one comma: the one before it, or else the one after it. */
    static String without(String text, int start, int end) {
        String before = text.substring(0, start).stripTrailing(), after = text.substring(end).stripLeading();
        if (before.endsWith(",")) return before.substring(0, before.length() - 1).stripTrailing() + text.substring(end);
        return after.startsWith(",") ? text.substring(0, start) + after.substring(1).stripLeading() : before + after;
    }

    static String sign(String text) throws Exception {
        String merchant = System.getenv("MERCHANT_SECRET_KEY"), partner = System.getenv("PARTNER_SECRET_KEY");
        Mac mac = Mac.getInstance("HmacSHA512"); // Nothing stands between the two secrets; without one of them this fails.
        mac.init(new SecretKeySpec(merchant.concat(partner).getBytes(UTF_8), "HmacSHA512"));
        return HexFormat.of().formatHex(mac.doFinal(text.getBytes(UTF_8)));
    }

    static boolean isAuthentic(byte[] body) throws Exception {
        String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString(); // new String would replace bytes that are not UTF-8.
        if (!isJsonObject(text)) return false;
        Matcher token = Pattern.compile(STRING + "|[\\[\\]{},]").matcher(text);
        List<int[]> found = new ArrayList<>();
        char before = ' ';
        for (int depth = 0, from = -1; token.find(); before = text.charAt(token.start())) {
            char first = text.charAt(token.start());
            if (first == '}' || first == ']') depth--;
            if (from >= 0 && (first == ',' && depth == 1 || depth == 0)) {
                found.add(new int[] {from, text.substring(0, token.start()).stripTrailing().length()});
                from = -1;
            }
            boolean isName = depth == 1 && (before == '{' || before == ',');
            if (isName && unescape(token.group()).equals("\"signature\"")) from = token.start();
            if (first == '{' || first == '[') depth++;
        }
        if (found.size() != 1) return false;
        int start = found.get(0)[0], end = found.get(0)[1];
        String claim = unescape(text.substring(start, end)).replaceFirst("^\"signature\"[ \t\n\r]*:[ \t\n\r]*", "");
        return java.security.MessageDigest.isEqual(claim.getBytes(UTF_8), ('"' + sign(without(text, start, end)) + '"').getBytes(UTF_8));
    }

    static int statusOf(HttpExchange exchange) throws Exception {
        Headers headers = exchange.getRequestHeaders();
        if (!exchange.getRequestMethod().equals("POST")) return 405;
        if (headers.containsKey("transfer-encoding") || Long.parseLong(headers.getOrDefault("content-length", List.of("65537")).get(0)) > 65536) return 413;
        byte[] body = exchange.getRequestBody().readAllBytes();
        try {
            return isAuthentic(body) ? 200 : 401; // Store the event before you answer 200; an unfamiliar one too.
        } catch (CharacterCodingException | StackOverflowError refused) {
            return 401;
        }
    }

    public static void main(String[] arguments) throws Exception {
        String order = """
            {"partner_order_id":"%s","fiat_amount":"15000.50","fiat_currency":"NGN","chain":"usdt-trc20","buyer_crypto_address":\
            "TQ5NMqJjhpQGK7YJbESKfVXGnLkYbLZ1pA","partner_callback_url":"https://partner.example/orders"}""".formatted(arguments[1]);
        String body = order.substring(0, order.length() - 1) + ",\"signature\":\"" + sign(order) + "\"}";
        if (arguments[0].equals("order")) System.out.print(body); // Post exactly this text.
        if (!arguments[0].equals("listen")) return;
        System.setProperty("sun.net.httpserver.maxReqTime", "5"); // Seconds for a request to arrive.
        HttpServer server = HttpServer.create(new java.net.InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[1])), 0);
        server.setExecutor(java.util.concurrent.Executors.newCachedThreadPool());
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(statusOf(exchange), -1);
            } catch (Exception failed) {
                System.err.println(failed.getClass()); // Closed without an answer.
            }
        });
        server.start();
    }
}
