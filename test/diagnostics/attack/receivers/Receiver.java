import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A sound receiver of order events. Prints its port, and ends when its standard input does. */
public class Receiver {
  private static final int LIMIT = 65_536;
  private static final Set<String> seen = ConcurrentHashMap.newKeySet();
  private static final Map<String, Integer> counts = new ConcurrentHashMap<>();
  private static byte[] key;

  public static void main(String[] args) throws IOException {
    key = (args[2] + args[1]).getBytes(StandardCharsets.UTF_8);
    System.setProperty("sun.net.httpserver.maxReqTime", "1");
    System.setProperty("sun.net.httpserver.nodelay", "true");
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 64);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/handled", exchange -> {
      String order = exchange.getRequestURI().getQuery().split("=")[1];
      answer(exchange, 200, String.valueOf(counts.getOrDefault(order, 0)));
    });
    server.createContext("/orders", exchange -> answer(exchange, receive(exchange), ""));
    server.start();
    System.out.println(server.getAddress().getPort());
    while (System.in.read() >= 0) {}
    System.exit(0);
  }

  private static int receive(HttpExchange exchange) throws IOException {
    var headers = exchange.getRequestHeaders();
    if (headers.containsKey("Transfer-Encoding")) return 400;
    byte[] body;
    try (InputStream in = exchange.getRequestBody()) {
      body = in.readNBytes(LIMIT + 1);
      in.transferTo(OutputStream.nullOutputStream());
    }
    if (!exchange.getRequestMethod().equals("POST")) return 405;
    if (body.length > LIMIT) return 413;
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
      Body read = new Body(text);
      if (!isSigned(read)) return 401;
      if (seen.add(text)) counts.merge(read.string("partner_order_id"), 1, Integer::sum);
      return 200;
    } catch (CharacterCodingException | IllegalArgumentException error) {
      return 401;
    }
  }

  private static boolean isSigned(Body body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA512");
      mac.init(new SecretKeySpec(key, "HmacSHA512"));
      byte[] right = mac.doFinal(body.unsigned().getBytes(StandardCharsets.UTF_8));
      String claim = body.string("signature");
      if (!claim.matches("[0-9a-f]{128}")) return false;
      return MessageDigest.isEqual(right, HexFormat.of().parseHex(claim));
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException(error);
    }
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    if (bytes.length > 0) exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  /** A JSON object and where its members are. @throws IllegalArgumentException for anything else */
  private static class Body {
    private static final Pattern SPACE = Pattern.compile("[ \\t\\n\\r]*");
    private static final Pattern STRING =
        Pattern.compile("\"[^\"\\\\\\x00-\\x1f]*+(?:\\\\(?:[\"\\\\/bfnrt]|u[0-9a-fA-F]{4})[^\"\\\\\\x00-\\x1f]*+)*+\"");
    private static final Pattern SCALAR =
        Pattern.compile("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null");
    private final String text;
    private final List<Member> members = new ArrayList<>();
    private int at = 0;

    private record Member(String name, int start, int valueStart, int end) {}

    Body(String text) {
      this.text = text;
      take(SPACE);
      if (peek() != '{') throw new IllegalArgumentException();
      readObject(0);
      take(SPACE);
      if (at != text.length()) throw new IllegalArgumentException();
    }

    /** The text without its one signature and one comma. */
    String unsigned() {
      Member signature = only("signature");
      String before = text.substring(0, signature.start).replaceFirst("[ \\t\\n\\r]+$", "");
      String after = text.substring(signature.end);
      if (before.endsWith(",")) {
        return before.substring(0, before.length() - 1).replaceFirst("[ \\t\\n\\r]+$", "") + after;
      }
      String next = after.replaceFirst("^[ \\t\\n\\r]*,[ \\t\\n\\r]*", "");
      if (next.length() < after.length()) return text.substring(0, signature.start) + next;
      return before + after.replaceFirst("^[ \\t\\n\\r]+", "");
    }

    String string(String name) {
      Member member = only(name);
      String literal = text.substring(member.valueStart, member.end);
      if (!literal.startsWith("\"") || literal.contains("\\")) throw new IllegalArgumentException();
      return literal.substring(1, literal.length() - 1);
    }

    private Member only(String name) {
      List<Member> found = members.stream().filter(member -> member.name.equals(name)).toList();
      if (found.size() != 1) throw new IllegalArgumentException();
      return found.get(0);
    }

    private void readValue(int depth) {
      if (depth > 100) throw new IllegalArgumentException();
      switch (peek()) {
        case '{' -> readObject(depth);
        case '[' -> readArray(depth);
        case '"' -> take(STRING);
        default -> take(SCALAR);
      }
    }

    private void readObject(int depth) {
      at++;
      take(SPACE);
      while (peek() != '}') {
        int start = at;
        String name = take(STRING);
        take(SPACE);
        expect(':');
        take(SPACE);
        int valueStart = at;
        readValue(depth + 1);
        if (depth == 0) members.add(new Member(unescaped(name), start, valueStart, at));
        next('}');
      }
      at++;
    }

    private void readArray(int depth) {
      at++;
      take(SPACE);
      while (peek() != ']') {
        readValue(depth + 1);
        next(']');
      }
      at++;
    }

    private void next(char end) {
      take(SPACE);
      if (peek() == end) return;
      expect(',');
      take(SPACE);
      if (peek() == end) throw new IllegalArgumentException();
    }

    private void expect(char letter) {
      if (peek() != letter) throw new IllegalArgumentException();
      at++;
    }

    private char peek() {
      if (at >= text.length()) throw new IllegalArgumentException();
      return text.charAt(at);
    }

    private String take(Pattern pattern) {
      Matcher matcher = pattern.matcher(text).region(at, text.length());
      if (!matcher.lookingAt()) throw new IllegalArgumentException();
      at = matcher.end();
      return matcher.group();
    }

    private static String unescaped(String literal) {
      return Pattern.compile("\\\\u([0-9a-fA-F]{4})")
          .matcher(literal.substring(1, literal.length() - 1))
          .replaceAll(found -> Matcher.quoteReplacement(
              String.valueOf((char) Integer.parseInt(found.group(1), 16))));
    }
  }
}
