/* Visits each URL of its standard input and follows its redirects.  For each it
 * prints a line: the final URL, or the reason of the failure. */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class Visit {
    public static void main(String[] args) throws Exception {
        HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.ALWAYS).build();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String url; (url = in.readLine()) != null;) {
            try {
                System.out.println(client.send(
                    HttpRequest.newBuilder(URI.create(url)).build(),
                    HttpResponse.BodyHandlers.discarding()).uri());
            } catch (Exception e) {
                System.out.println("failed: " + e);
            }
        }
    }
}
