// `listen 3000` receives signed order events, `order A-1001` prints a signed order. Go 1.19 or later.
// Set PARTNER_SECRET_KEY and MERCHANT_SECRET_KEY.
package main

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

func refuse(reason string) {
	fmt.Fprintln(os.Stderr, reason)
	os.Exit(2)
}

func secret(name string) string {
	value := strings.TrimSpace(os.Getenv(name))
	if value == "" {
		refuse("Set " + name + ": without it anybody could sign.")
	}
	return value
}

func sign(text string) string {
	mac := hmac.New(sha512.New, []byte(secret("MERCHANT_SECRET_KEY")+secret("PARTNER_SECRET_KEY"))) // Nothing between them.
	mac.Write([]byte(text))
	return fmt.Sprintf("%x", mac.Sum(nil))
}

// without cuts out a member and one comma: the one before it, or else the one after it.
func without(text string, start, end int) string {
	const space = " \t\n\r"
	before, after := strings.TrimRight(text[:start], space), strings.TrimLeft(text[end:], space)
	if strings.HasSuffix(before, ",") {
		return strings.TrimRight(before[:len(before)-1], space) + text[end:]
	}
	if strings.HasPrefix(after, ",") {
		return text[:start] + strings.TrimLeft(after[1:], space)
	}
	return before + after
}

// encoding/json alone would replace bytes that are not UTF-8, and take the last of two signatures.
func isAuthentic(text string) bool {
	decoder := json.NewDecoder(strings.NewReader(text))
	first, _ := decoder.Token()
	isObject := first == json.Delim('{') && utf8.ValidString(text) && json.Valid([]byte(text))
	claims, rest := []string{}, ""
	for isObject && decoder.More() {
		from := int(decoder.InputOffset())
		name, _ := decoder.Token()
		value := json.RawMessage{}
		decoder.Decode(&value) // Cannot fail: the whole text is valid.
		if name == "signature" {
			claims = append(claims, "")
			json.Unmarshal(value, &claims[len(claims)-1]) // Stays empty if it is no text.
			rest = without(text, from+strings.IndexByte(text[from:], '"'), int(decoder.InputOffset()))
		}
	}
	return len(claims) == 1 && hmac.Equal([]byte(claims[0]), []byte(sign(rest)))
}

func receive(response http.ResponseWriter, request *http.Request) {
	response.Header().Set("allow", "POST")
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 65536))
	if request.Method != "POST" {
		response.WriteHeader(http.StatusMethodNotAllowed)
	} else if request.ContentLength < 0 || err != nil { // Of unknown length, too long, or cut off.
		response.WriteHeader(http.StatusRequestEntityTooLarge)
	} else if !isAuthentic(string(body)) {
		response.WriteHeader(http.StatusUnauthorized)
	} // Store the event here, before it is acknowledged with 200; an unfamiliar one too.
}

func main() {
	if len(os.Args) != 3 || os.Args[2] == "" || os.Args[1] != "listen" && os.Args[1] != "order" {
		refuse("Usage: receiver listen PORT | order ID")
	}
	sign("") // Refuses to start without the secrets.
	if os.Args[1] == "listen" {
		if _, err := strconv.ParseUint(os.Args[2], 10, 16); err != nil {
			refuse("Usage: receiver listen PORT")
		}
		server := http.Server{Addr: "127.0.0.1:" + os.Args[2], Handler: http.HandlerFunc(receive), ReadTimeout: 5 * time.Second}
		panic(server.ListenAndServe())
	}
	order, _ := json.Marshal(map[string]string{"partner_order_id": os.Args[2], "fiat_amount": "15000.50", "fiat_currency": "NGN", "chain": "usdt-trc20",
		"buyer_crypto_address": "TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP", "partner_callback_url": "https://partner.example/orders"})
	fmt.Printf(`%s,"signature":"%s"}`, order[:len(order)-1], sign(string(order))) // Post exactly this text.
}
