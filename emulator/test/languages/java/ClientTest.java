import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClientTest {
  static final String API = System.getenv("EMULATOR_URL");
  static final String ADMIN = System.getenv("EMULATOR_ADMIN_URL");
  static final String TOKEN = System.getenv("EMULATOR_TOKEN"); // for the repository team/app
  static final String REMOTE =
      System.getenv("EMULATOR_GIT_URL").replace("://", "://t:" + TOKEN + "@") + "/team/app.git";

  final HttpClient http = HttpClient.newHttpClient();

  HttpResponse<String> request(String method, String url, String body) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create(url))
            .method(method, BodyPublishers.ofString(body))
            .header("Content-Type", "application/json");
    if (url.startsWith(API + "/api/")) request.header("Authorization", "Bearer " + TOKEN);
    return http.send(request.build(), BodyHandlers.ofString());
  }

  static void git(Path folder, String... arguments) throws Exception {
    var command = new ArrayList<>(List.of("git"));
    command.addAll(List.of(arguments));
    assertEquals(0, new ProcessBuilder(command).directory(folder.toFile()).inheritIO().start().waitFor());
  }

  /** Returns the emulator to its start and creates the repository. */
  @BeforeEach
  void start() throws Exception {
    assertEquals(200, request("POST", ADMIN + "/reset", "").statusCode());
    assertEquals(201, request("POST", API + "/api/repos", "{}").statusCode());
  }

  @Test
  void pushedFileIsRead(@TempDir Path folder) throws Exception {
    git(folder, "init", "-q", "-b", "main");
    Files.writeString(folder.resolve("a.txt"), "hello\n");
    git(folder, "add", "a.txt");
    git(folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "First");
    git(folder, "push", "-q", REMOTE, "main");
    assertEquals("hello\n", request("GET", API + "/api/v1/repos/file?path=a.txt", "").body());
  }

  @Test
  void rateLimitIsReported() throws Exception {
    request("POST", ADMIN + "/faults", "{\"spec\": \"rate_limited*1;retry-after=7\"}");
    var refused = request("GET", API + "/api/v1/repo", "");
    assertEquals(429, refused.statusCode());
    assertEquals("7", refused.headers().firstValue("Retry-After").orElse(""));
    assertEquals(200, request("GET", API + "/api/v1/repo", "").statusCode());
  }
}
