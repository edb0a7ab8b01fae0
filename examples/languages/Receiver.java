// `listen 3000` receives signed order events, `order A-1001` prints a signed order. Java 17 or later.
// Set PARTNER_SECRET_KEY and MERCHANT_SECRET_KEY.
import com.sun.net.httpserver.*;
import java.util.*;
import java.util.regex.*;
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
    static String unescape(String literal) { // Names and signatures need no other escapes.
        return Pattern.compile("\\\\u([0-9a-fA-F]{4})").matcher(literal).replaceAll(each -> Matcher.quoteReplacement("" + (char) Integer.parseInt(each.group(1), 16)));
    }

    /** The text without this member and one comma: the one before it, or else the one after it. */
    static String without(String text, int start, int end) {
        String before = text.substring(0, start).stripTrailing(), after = text.substring(end).stripLeading();
        if (before.endsWith(",")) return before.substring(0, before.length() - 1).stripTrailing() + text.substring(end);
        return after.startsWith(",") ? text.substring(0, start) + after.substring(1).stripLeading() : before + after;
    }

    static void refuse(String reason) {
        System.err.println(reason);
        System.exit(2);
    }
    static String secret(String name) {
        String value = System.getenv().getOrDefault(name, "").strip();
        if (value.isEmpty()) refuse("Set " + name + ": without it anybody could sign.");
        return value;
    }
    static String sign(String text) {
        try { // Nothing stands between the two secrets.
            var mac = javax.crypto.Mac.getInstance("HmacSHA512");
            mac.init(new javax.crypto.spec.SecretKeySpec((secret("MERCHANT_SECRET_KEY") + secret("PARTNER_SECRET_KEY")).getBytes(UTF_8), "HmacSHA512"));
            return HexFormat.of().formatHex(mac.doFinal(text.getBytes(UTF_8)));
        } catch (java.security.GeneralSecurityException impossible) { throw new IllegalStateException(impossible); }
    }
    static boolean isAuthentic(byte[] body) throws java.io.IOException {
        String text = UTF_8.newDecoder().decode(java.nio.ByteBuffer.wrap(body)).toString(); // new String would replace bytes that are not UTF-8.
        if (!isJsonObject(text)) return false;
        Matcher token = Pattern.compile(STRING + "|[\\[\\]{},]").matcher(text);
        int depth = 0, signatures = 0, start = 0, end = 0;
        for (char before = ' ', first; token.find(); before = first) {
            first = text.charAt(token.start());
            if (first == '}' || first == ']') depth--;
            if (end < start && (depth == 0 || depth == 1 && first == ',')) end = text.substring(0, token.start()).stripTrailing().length();
            boolean isName = depth == 1 && (before == '{' || before == ',');
            if (isName && unescape(token.group()).equals("\"signature\"") && ++signatures > 0) start = token.start();
            if (first == '{' || first == '[') depth++;
        }
        if (signatures != 1) return false;
        String claim = unescape(text.substring(start, end)).replaceFirst("^\"signature\"[ \t\n\r]*:[ \t\n\r]*", "");
        return java.security.MessageDigest.isEqual(claim.getBytes(UTF_8), ('"' + sign(without(text, start, end)) + '"').getBytes(UTF_8));
    }

    static int statusOf(HttpExchange exchange) throws java.io.IOException {
        Headers headers = exchange.getRequestHeaders();
        if (!exchange.getRequestMethod().equals("POST")) return 405;
        if (headers.containsKey("transfer-encoding") || Long.parseLong(headers.getOrDefault("content-length", List.of("65537")).get(0)) > 65536) return 413;
        try {
            return isAuthentic(exchange.getRequestBody().readAllBytes()) ? 200 : 401; // Store the event before you answer 200; an unfamiliar one too.
        } catch (java.nio.charset.CharacterCodingException | StackOverflowError refused) { return 401; }
    }

    public static void main(String[] arguments) throws Exception {
        String call = String.join(" ", arguments);
        if (!call.matches("order \\S+|listen [0-9]{1,5}")) refuse("Usage: java Receiver listen PORT | order ID");
        String order = """
            {"partner_order_id":"%s","fiat_amount":"15000.50","fiat_currency":"NGN","chain":"usdt-trc20","buyer_crypto_address":\
            "TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP","partner_callback_url":"https://partner.example/orders"}""".formatted(arguments[1]);
        String body = order.substring(0, order.length() - 1) + ",\"signature\":\"" + sign(order) + "\"}";
        if (arguments[0].equals("order")) System.out.print(body); // Post exactly this text.
        if (!arguments[0].equals("listen")) return;
        System.setProperty("sun.net.httpserver.maxReqTime", "5"); // Seconds for a request to arrive.
        HttpServer server = HttpServer.create(new java.net.InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[1])), 0);
        server.setExecutor(java.util.concurrent.Executors.newCachedThreadPool());
        server.createContext("/", exchange -> {
            try (exchange) { exchange.sendResponseHeaders(statusOf(exchange), -1); } // Without an answer if this fails.
        });
        server.start();
    }
}
