package client

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	api    = os.Getenv("EMULATOR_URL")
	admin  = os.Getenv("EMULATOR_ADMIN_URL")
	token  = os.Getenv("EMULATOR_TOKEN") // for the repository team/app
	remote = strings.Replace(os.Getenv("EMULATOR_GIT_URL"), "://", "://t:"+token+"@", 1) + "/team/app.git"
)

func request(t *testing.T, method, url, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(url, api+"/api/") {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

// start returns the emulator to its start and creates the repository.
func start(t *testing.T) {
	t.Helper()
	request(t, "POST", admin+"/reset", "")
	if response, text := request(t, "POST", api+"/api/repos", "{}"); response.StatusCode != 201 {
		t.Fatal(response.Status, text)
	}
}

func git(t *testing.T, folder string, arguments ...string) {
	t.Helper()
	command := exec.Command("git", arguments...)
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", arguments, err, output)
	}
}

func TestPushedFileIsRead(t *testing.T) {
	start(t)
	folder := t.TempDir()
	git(t, folder, "init", "-q", "-b", "main")
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, folder, "add", "a.txt")
	git(t, folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "First")
	git(t, folder, "push", "-q", remote, "main")
	if _, text := request(t, "GET", api+"/api/v1/repos/file?path=a.txt", ""); text != "hello\n" {
		t.Errorf("got %q", text)
	}
}

func TestRateLimitIsReported(t *testing.T) {
	start(t)
	request(t, "POST", admin+"/faults", `{"spec": "rate_limited*1;retry-after=7"}`)
	refused, _ := request(t, "GET", api+"/api/v1/repo", "")
	if refused.StatusCode != 429 || refused.Header.Get("Retry-After") != "7" {
		t.Error(refused.Status, refused.Header)
	}
	if served, _ := request(t, "GET", api+"/api/v1/repo", ""); served.StatusCode != 200 {
		t.Error(served.Status)
	}
}
