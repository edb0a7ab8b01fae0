<?php
// Behind a web server: receives signed order events. `php receiver.php order A-1001` prints a signed order. PHP 8.1 or later.
// Set PARTNER_SECRET_KEY and MERCHANT_SECRET_KEY.
declare(strict_types=1);
ini_set('display_errors', '0'); // Errors belong into the log, never into an answer.

const SPACE = " \t\n\r";
const LIMIT = 65536;

/** Behind a web server the answer is 500. */
function refuse(string $reason): never
{
    if (PHP_SAPI !== 'cli') throw new RuntimeException($reason);
    fwrite(STDERR, "$reason\n");
    exit(2);
}

function setting(string $name): string
{
    $value = trim((string) getenv($name));
    if ($value === '') refuse("Set $name: without it anybody could sign.");
    return $value;
}

function sign(string $text): string
{
    return hash_hmac('sha512', $text, setting('MERCHANT_SECRET_KEY') . setting('PARTNER_SECRET_KEY')); // Nothing between them.
}

/** Start and end of each top-level member named signature, in the text of an object that json_decode takes. */
function signatures(string $text): array
{
    preg_match_all('/"(?:[^"\\\\]++|\\\\.)*+"|[][{},]/s', $text, $tokens, PREG_OFFSET_CAPTURE);
    $found = [];
    [$depth, $start, $isName] = [0, null, false];
    foreach ($tokens[0] as [$token, $at]) {
        if ($token === '}' || $token === ']') $depth--;
        if ($start !== null && ($token === ',' && $depth === 1 || $depth === 0)) {
            $found[] = [$start, strlen(rtrim(substr($text, 0, $at), SPACE))];
            $start = null;
        }
        if ($isName && $token[0] === '"' && json_decode($token) === 'signature') $start = $at;
        if ($token === '{' || $token === '[') $depth++;
        $isName = $depth === 1 && ($token === '{' || $token === ',');
    }
    return $found;
}

/** The text without this member and one comma: the one before it, or else the one after it. */
function without(string $text, int $start, int $end): string
{
    [$before, $after] = [rtrim(substr($text, 0, $start), SPACE), ltrim(substr($text, $end), SPACE)];
    if (str_ends_with($before, ',')) return rtrim(substr($before, 0, -1), SPACE) . substr($text, $end);
    if (str_starts_with($after, ',')) return substr($text, 0, $start) . ltrim(substr($after, 1), SPACE);
    return $before . $after;
}

/** The event, or null if it is not authentic. */
function verify(string $body): ?object
{
    $event = json_decode($body, false, 10_000); // Strict, and null for bytes that are not UTF-8.
    $found = is_object($event) ? signatures($body) : [];
    if (count($found) !== 1 || !is_string($event->signature)) return null;
    return hash_equals(sign(without($body, ...$found[0])), $event->signature) ? $event : null;
}

function status(): int
{
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') return 405;
    $length = $_SERVER['CONTENT_LENGTH'] ?? '';
    if (isset($_SERVER['HTTP_TRANSFER_ENCODING']) || !ctype_digit($length)) return 411;
    if ((int) $length > LIMIT) return 413;
    $event = verify(file_get_contents('php://input'));
    return $event === null ? 401 : 200; // Store the event before you answer 200; an unfamiliar one too.
}

if (PHP_SAPI !== 'cli') {
    sign(''); // Without the secrets nothing is answered but 500.
    header('Allow: POST');
    http_response_code(status());
    exit;
}
if ($argc !== 3 || $argv[1] !== 'order' || $argv[2] === '') refuse('Usage: php receiver.php order ID');
$order = json_encode([
    'partner_order_id' => $argv[2], 'fiat_amount' => '15000.50', 'fiat_currency' => 'NGN', 'chain' => 'usdt-trc20',
    'buyer_crypto_address' => 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP', 'partner_callback_url' => 'https://partner.example/orders',
], JSON_THROW_ON_ERROR);
$signature = sign($order); // Before anything is printed: without keys it ends here.
echo substr($order, 0, -1), ',"signature":"', $signature, '"}'; // Post exactly this text.
