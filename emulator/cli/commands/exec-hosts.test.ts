import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { EMULATOR, ended, spawnCli } from '../../test/cli-process.js';
import { API, AUTHORIZATION, exec, GIT, HOSTS } from '../test/hosts.js';

// needs: git, curl, python3

/** Sends a request to the HTTP proxy of `emulator exec`. Returns the response as text. */
function ask(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const socket = connect(port, '127.0.0.1', () => socket.end(request));
    socket.on('data', (part) => {
      said += part;
      // Close the tunnel when the proxy has accepted it, because this test sends nothing through it.
      if (said.includes(' 200 ')) socket.destroy();
    });
    socket.on('error', reject).on('close', () => resolve(said));
  });
}

t.test('curl, Git, Python and Node reach the emulator by built-in host names', async (t) => {
  const node = (script: string) => `'${process.execPath}' -e '${script}'`;
  const print = '.then(async (r) => console.log("fetch", r.status, (await r.json()).url))';
  const { code, out, err } = await exec(
    t,
    `cd '${t.testdir({})}'
     curl -sS -X POST ${AUTHORIZATION} ${API}/api/repos | grep -o '"http_url":"[^"]*"'
     git init -q first && cd first
     git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
     git push -q "https://t:$EMULATOR_TOKEN@git.example.test/team/app.git" HEAD:main
     git clone -q "https://t:$EMULATOR_TOKEN@git.example.test/team/app.git" ../second
     git -C ../second log --format=%s
     git -C ../second fetch -q
     python3 -c 'import os, urllib.request as u
print("urllib", u.urlopen(u.Request("${API}/api/v1/repo", headers={"Authorization": "Bearer " + os.environ["EMULATOR_TOKEN"]})).status)'
     ${node(`fetch("${API}/api/v1/repo", { headers: { authorization: "Bearer " + process.env.EMULATOR_TOKEN } })${print}`)}
     ${node(`require("https").get("${API}/_emulator/health", (r) => r.resume().on("end", () => console.log("https", r.statusCode)))`)}
     ${node('fetch(process.env.EMULATOR_URL + "/_emulator/health").then((r) => console.log("loopback", r.status))')}`,
  );
  t.same([code, err], [0, '']);
  t.same(out.trim().split('\n'), [
    `"http_url":"${GIT}/team/app.git"`,
    'one',
    'urllib 200',
    'fetch 200 team/app',
    'https 200',
    'loopback 200',
  ]);
});

t.test('remotes need no token where Git asks the credential helper', async (t) => {
  const script = join(t.testdir({}), 'clone.sh');
  writeFileSync(
    script,
    `export GIT_TERMINAL_PROMPT=0
     cd "$(dirname "$0")"
     helper() { ${EMULATOR} credential "$@"; }
     curl -sS -o created -X POST ${AUTHORIZATION} ${API}/api/repos
     cat > helper.sh <<'END'
exec ${EMULATOR} credential "$@"
END
     for url in "$EMULATOR_GIT_URL/team/app.git" ${GIT}/team/app.git; do
       git -c credential.helper="!sh '$PWD/helper.sh'" ls-remote -q "$url" && echo asked
       git -c credential.useHttpPath=true -c credential.helper="!sh '$PWD/helper.sh'" ls-remote -q "$url" && echo by path
     done
     printf 'protocol=https\\nhost=git.example.test\\npath=team/app.git\\n\\n' | helper get | sed 's/=e.*/=TOKEN/'
     for other in https://github.com http://git.example.test https://127.0.0.1:1 smtp://localhost; do
       printf "protocol=\${other%%:*}\\nhost=\${other#*//}\\n\\n" | helper get
     done
     printf 'protocol=https\\nhost=git.example.test\\nusername=t\\npassword=x\\n\\n' | helper store
     helper erase < /dev/null
     helper capability < /dev/null
     echo end`,
  );
  const { code, out, err } = await exec(t, `sh -e '${script}'`);
  t.same([code, err], [0, '']);
  const twice = ['asked', 'by path'];
  t.same(out.trim().split('\n'), [...twice, ...twice, 'username=t', 'password=TOKEN', 'end']);
});

t.test('the certificate is valid for one day and only for these hosts', async (t) => {
  const file = join(t.testdir({}), 'bundle.pem');
  const { out } = await exec(
    t,
    `cp "$SSL_CERT_FILE" '${file}'; stat -c %a "$SSL_CERT_FILE"; dirname "$SSL_CERT_FILE"
     for name in GIT_SSL_CAINFO NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE; do printenv $name; done | sort -u | wc -l
     '${process.execPath}' -e 'require("net"); const tls = require("tls"), http = require("http");
       const { hostname, port, username, password } = new URL(process.env.https_proxy);
       const headers = { "proxy-authorization": "Basic " + Buffer.from(username + ":" + password).toString("base64") };
       http.request({ hostname, port, method: "CONNECT", path: "git.example.test:443", headers }).on("connect", (_, socket) => {
         const s = tls.connect({ socket, servername: "git.example.test" }, () => {
           const { subjectaltname, valid_from, valid_to } = s.getPeerCertificate();
           console.log(subjectaltname, (Date.parse(valid_to) - Date.parse(valid_from)) / 3600000);
           s.destroy();
         });
       }).end();'`,
  );
  const [mode, folder, files, names] = out.trim().split('\n');
  t.same([mode, files], ['600', '1']);
  t.equal(names, 'DNS:api.demo.example.test, DNS:git.example.test 24');
  t.notOk(existsSync(folder!), 'the file is removed at the end');
  const text = readFileSync(file, 'utf8');
  t.notMatch(text, /PRIVATE KEY/);
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)!;
  t.ok(certificates.length > 10, 'the roots of the system are there as well');
  const own = new X509Certificate(certificates[0]!);
  t.ok(own.ca && own.verify(own.publicKey));
  t.ok(Date.parse(own.validTo) > Date.now() + 30 * 24 * 3600 * 1000, 'it outlives the certificates that it signs');
});

/** Invalid targets of CONNECT requests. The HTTP method CONNECT requires a host and a port. */
const MALFORMED = [
  'git.example.test',
  'git.example.test:',
  'git.example.test:443:443',
  'git.example.test:80:443',
  'git.example.test:0443',
  'git.example.test:00443',
  'git.example.test:443 ',
  ' git.example.test:443',
  'git.example.test:443%20',
  'git.example.test:443/',
  '[::1]:443:443',
  'https://git.example.test:443',
  ':443',
  'x:0',
  'x:65536',
  'x y:443',
  'a@git.example.test:443',
];

t.test('the proxy requires its credentials, and refuses other hosts', async (t) => {
  const child = spawnCli(t, ['exec', '--log', 'quiet', ...HOSTS, '--', 'sh', '-c', 'echo "$https_proxy"; sleep 100']);
  while (!child.said.out.includes('\n')) await new Promise((resolve) => child.stdout!.once('data', resolve));
  const { hostname, port, username, password } = new URL(child.said.out.trim());
  t.equal(hostname, '127.0.0.1');
  t.ok(password.length >= 32);
  const basic = (user: string, secret: string) =>
    `Proxy-Authorization: Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}\r\n`;
  const right = basic(username, password);
  const tell = async (target: string, header = right) =>
    ask(Number(port), `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n${header}\r\n`);
  for (const header of [
    '',
    basic(username, 'x'),
    basic('x', password),
    `Proxy-Authorization: Bearer ${password}\r\n`,
  ]) {
    const response = await tell('git.example.test:443', header);
    t.match(response, /^HTTP\/1\.1 407 .*\r\n[\s\S]*Proxy-Authenticate: Basic /);
    t.notMatch(response, password);
  }
  for (const host of ['example.org', '127.0.0.1', '[::1]', 'git.example.test.example.org', 'x.git.example.test']) {
    const response = await tell(`${host}:443`);
    t.match(response, /^HTTP\/1\.1 403 /);
    t.ok(response.includes(`--proxy-pass ${host} `), host);
  }
  for (const port of ['80', '8443', '22'])
    t.match(await tell(`git.example.test:${port}`), /^HTTP\/1\.1 403 [\s\S]*443/);
  for (const target of MALFORMED) t.match(await tell(target), /^HTTP\/1\.1 400 /, JSON.stringify(target));
  const old = await ask(Number(port), `CONNECT git.example.test:443\r\n${right}\r\n`);
  t.match(old, /^HTTP\/1\.1 40[07] /, 'HTTP/0.9');
  for (const name of ['GIT.example.test', 'git.example.test.'])
    t.match(await tell(`${name}:443`), /^HTTP\/1\.1 200 /, name);
  const plain = (header: string) =>
    ask(Number(port), `GET http://git.example.test/ HTTP/1.1\r\nHost: x\r\n${header}\r\n`);
  t.match(await plain(''), /^HTTP\/1\.1 407 /);
  t.match(await plain(right), /^HTTP\/1\.1 403 /);
  child.kill('SIGTERM');
  await ended(child);
  t.notMatch(child.said.err, password);
  t.match(child.said.err, /example\.org was refused\. Add --proxy-pass example\.org/);
  await t.rejects(tell('git.example.test:443'), 'it is gone');
});

t.test('exec removes its temporary files however it ends', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL'] as const) {
    // Start the program without a shell. A shell would wait for its child process, which does not receive the signal.
    const script = 'console.log(process.env.SSL_CERT_FILE); setInterval(() => {}, 1e6)';
    const child = spawnCli(t, ['exec', '--log', 'quiet', ...HOSTS, '--', process.execPath, '-e', script]);
    while (!child.said.out.includes('\n')) await new Promise((resolve) => child.stdout!.once('data', resolve));
    const file = child.said.out.trim();
    t.equal(statSync(file).mode & 0o777, 0o600);
    child.kill(signal);
    await ended(child);
    for (let look = 0; existsSync(file) && look < 100; look++) await new Promise((resolve) => setTimeout(resolve, 50));
    t.notOk(existsSync(join(file, '..')), signal);
  }
});

t.test('no_proxy is kept except entries that cover served hosts; flags are validated', async (t) => {
  const flags = ['exec', '--log', 'quiet', ...HOSTS, '--', 'sh', '-c', 'echo "$no_proxy $NODE_OPTIONS"'];
  const before = { ...process.env };
  Object.assign(process.env, {
    no_proxy: '.example.test,own.test,10.0.0.0/8',
    NODE_OPTIONS: '--max-http-header-size=20000',
  });
  const child = spawnCli(t, flags);
  process.env = before;
  t.same((await ended(child))[0], 0);
  t.match(child.said.out, /^own\.test,10\.0\.0\.0\/8,localhost,127\.0\.0\.1,::1 --max-http-header-size=20000/);
  t.match(child.said.err, /Removed from no_proxy.*\.example\.test\./);
  for (const [given, sentence] of [
    [['--proxy-pass', 'a.test'], /--proxy-pass requires --api-host or --git-host\./],
    [[...HOSTS, '--proxy-pass', 'git.example.test'], /--proxy-pass must not name git\.example\.test/],
    [['--api-host', 'https://a.test'], /--api-host must be the name of a host/],
    [['--git-host', 'a.test:8443'], /--git-host must be the name of a host/],
    [['--git-host', ''], /--git-host/],
  ] as const) {
    const { code, err } = await exec(t, 'true', given);
    t.equal(code, 2);
    t.match(err, sentence);
    t.match(err, /^[^\n]+\.\n$/, 'one sentence');
  }
});
