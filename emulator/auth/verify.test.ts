import { constants, createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { KeyRing, RegisteredKey } from './keys.js';
import { accept, denied, encode, forge, GOOD, privateKey, publicPem, REPO, registered, signed } from './test/forge.js';

t.test('every registered algorithm signs a token that is accepted', async (t) => {
  for (const [id, alg] of [
    ['es256', 'ES256'],
    ['es384', 'ES384'],
    ['es512', 'ES512'],
    ['rs256', 'RS256'],
  ] as const) {
    const { claims, key } = await accept(forge(GOOD, { alg, typ: 'JWT' }, id));
    t.equal(key.kid, id);
    t.match(claims, { iss: 'demo', sub: 'tests', repo: REPO, scopes: ['git:read'], policy: [] });
  }
});

t.test('alg is one of four strings', async (t) => {
  const input = (alg: unknown) => `${encode({ alg, typ: 'JWT' })}.${encode(GOOD)}`;
  for (const alg of ['none', 'None', 'nOnE', '', undefined, ['ES256'], 256, null, '__proto__', 'constructor']) {
    await denied(t, `${input(alg)}.`, 'algorithm', `${JSON.stringify(alg)} without a signature`);
    await denied(t, `${input(alg)}.Z2FyYmFnZQ`, 'algorithm', `${JSON.stringify(alg)} with garbage`);
  }
  await denied(t, `${input('ES256')}.`, 'signature', 'ES256 with an empty signature');
});

t.test('a token signed by HMAC with a public key is refused', async (t) => {
  const pem = publicPem('es256');
  const key = createPublicKey(pem);
  const der = key.export({ type: 'spki', format: 'der' });
  const secrets = [pem, pem.trimEnd(), der, JSON.stringify(key.export({ format: 'jwk' })), der.toString('base64')];
  for (const alg of ['HS256', 'HS384', 'HS512']) {
    for (const secret of secrets) {
      const input = `${encode({ alg, typ: 'JWT' })}.${encode(GOOD)}`;
      const mac = createHmac(alg.replace('HS', 'sha'), secret).update(input).digest('base64url');
      await denied(t, `${input}.${mac}`, 'algorithm', alg);
    }
  }
});

t.test('type and curve of the key must fit alg', async (t) => {
  for (const [alg, kid] of [
    ['ES256', 'es384'],
    ['ES384', 'es256'],
    ['RS256', 'es256'],
    ['ES256', 'rs256'],
  ] as const) {
    await denied(t, forge(GOOD, { alg, typ: 'JWT', kid }, kid), 'algorithm', `${alg} with ${kid}`);
    await denied(t, forge(GOOD, { alg, typ: 'JWT' }, kid), 'signature', `${alg} with ${kid}, unnamed`);
  }
  for (const alg of ['PS256', 'RS384', 'ES256K', 'EdDSA']) {
    await denied(t, forge(GOOD, { alg, typ: 'JWT' }, 'rs256'), 'algorithm', alg);
  }
  const input = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(GOOD)}`;
  const pss = sign('sha256', Buffer.from(input), {
    key: privateKey('rs256'),
    padding: constants.RSA_PKCS1_PSS_PADDING,
  });
  await denied(t, `${input}.${pss.toString('base64url')}`, 'signature', 'RSASSA-PSS under RS256');
});

t.test('an ECDSA signature is two numbers of full length, in range', async (t) => {
  const N = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
  const input = `${encode({ alg: 'ES256', typ: 'JWT' })}.${encode(GOOD)}`;
  const good = signed(input, 'ES256', privateKey('es256'));
  const number = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
  const [r, s] = [good.subarray(0, 32), good.subarray(32)];
  const bad: Record<string, Buffer> = {
    DER: sign('sha256', Buffer.from(input), privateKey('es256')),
    '63 bytes': good.subarray(0, 63),
    '65 bytes': Buffer.concat([good, Buffer.alloc(1)]),
    'r = 0': Buffer.concat([number(0n), s]),
    's = 0': Buffer.concat([r, number(0n)]),
    'r = n': Buffer.concat([number(N), s]),
    's = n': Buffer.concat([r, number(N)]),
    's = n - 1': Buffer.concat([r, number(N - 1n)]),
    'r = s = 0': Buffer.alloc(64),
  };
  for (const [title, bytes] of Object.entries(bad)) {
    await denied(t, `${input}.${bytes.toString('base64url')}`, 'signature', title);
  }
  const mirrored = number(N - BigInt(`0x${s.toString('hex')}`));
  const malleable = `${input}.${Buffer.concat([r, mirrored]).toString('base64url')}`;
  t.equal((await accept(malleable)).key.kid, 'es256', 'the other of the two valid s is accepted');
});

t.test('keys come from the registry, never from jku, x5u, jwk or x5c', async (t) => {
  let hits = 0;
  const canary = createServer((_request, response) => {
    hits++;
    response.end();
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => canary.once('listening', listening));
  const url = `http://127.0.0.1:${(canary.address() as AddressInfo).port}/jwks.json`;
  const kids = ['../../etc/passwd', 'file:///etc/passwd', url, "' OR 1=1", '__proto__', 'constructor', '\0', ''];
  for (const kid of [...kids, 'k'.repeat(4096)]) {
    t.equal(
      (await accept(forge(GOOD, { alg: 'ES256', typ: 'JWT', kid }))).key.kid,
      'es256',
      'an unknown kid is no obstacle',
    );
  }
  for (const kid of [1, {}, null, ['es256'], true]) {
    await denied(t, forge(GOOD, { alg: 'ES256', typ: 'JWT', kid }), 'key-id', JSON.stringify(kid));
  }
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = stranger.publicKey.export({ format: 'jwk' });
  for (const pointer of [{ jku: url }, { x5u: url }, { jwk }, { x5c: [encode(jwk)] }]) {
    await denied(
      t,
      forge(GOOD, { alg: 'ES256', typ: 'JWT', ...pointer }, stranger.privateKey),
      'signature',
      'a pointer',
    );
    t.ok(await accept(forge(GOOD, { alg: 'ES256', typ: 'JWT', ...pointer })), 'and does no harm to a good token');
  }
  t.equal(hits, 0, 'nothing was fetched');
  canary.close();
});

t.test('only the key with the given kid is tried', async (t) => {
  await denied(t, forge(GOOD, { alg: 'ES256', typ: 'JWT', kid: 'restricted' }), 'signature', 'signed by another key');
  t.ok(await accept(forge(GOOD, { alg: 'ES256', typ: 'JWT', kid: 'es256' })));
  t.ok(await accept(forge(GOOD, { alg: 'ES256', typ: 'JWT', kid: 'deleted' })), 'a deleted key names nothing');
  await denied(t, forge(GOOD, { alg: 'ES256', typ: 'JWT', kid: 'deleted' }, 'deleted'), 'signature', 'deleted key');
  await denied(t, forge(GOOD, { alg: 'ES256', typ: 'JWT' }, 'deleted'), 'signature', 'deleted key, unnamed');
});

t.test('the error for a wrong signature names the keys that were tried', async (t) => {
  for (const [kid, keys] of [
    ['restricted', 'the key that kid names'],
    ['unknown', 'any key registered with the organization'],
  ]) {
    const failure = await accept(forge(GOOD, { alg: 'ES256', typ: 'JWT', kid }, 'second')).catch((error) => error);
    t.equal(failure.detail, `The token is invalid or expired: its signature was not made by ${keys}.`);
  }
});

t.test('critical headers are refused', async (t) => {
  for (const header of [
    { crit: ['b64'], b64: false },
    { b64: false },
    { crit: ['exp'] },
    { crit: [] },
    { crit: null },
  ]) {
    await denied(t, forge(GOOD, { alg: 'ES256', typ: 'JWT', ...header }), 'critical', JSON.stringify(header));
  }
});

t.test('typ is JWT in any case', async (t) => {
  t.ok(await accept(forge(GOOD, { alg: 'ES256', typ: 'jwt' })));
  for (const typ of [undefined, 'at+jwt', 'JWE', '', 1, ['JWT']]) {
    await denied(t, forge(GOOD, { alg: 'ES256', typ }), 'type', JSON.stringify(typ) ?? 'missing');
  }
});

t.test('only keys of the same algorithm are tried', async (t) => {
  let loaded = 0;
  const strangers = Array.from({ length: 99 }, (_, at) => {
    return new RegisteredKey(`p521-${at}`, 'ES512', ['*'], () => {
      loaded++;
      return createPublicKey(publicPem('es512'));
    });
  });
  const ring = new KeyRing([...strangers, registered('last', 'es256')]);
  const { key } = await accept(forge(GOOD, { alg: 'ES256', typ: 'JWT', kid: 'unknown' }), { ringOf: () => ring });
  t.equal(key.kid, 'last');
  t.equal(loaded, 0, 'keys of another curve were not even read');
});

t.test('structure: three strict base64url parts of strict JSON objects', async (t) => {
  const [header, payload, signature] = forge().split('.') as [string, string, string];
  const bad: Record<string, string> = {
    'one part': 'garbage',
    'two parts': `${header}.${payload}`,
    'four parts': `${header}.${payload}.${signature}.`,
    'five parts, as JWE': `${header}.a.b.c.${signature}`,
    padding: `${header}.${payload}.${signature}==`,
    'standard alphabet': `${header}.${payload}.${signature.slice(0, -1)}+`,
    'space inside': `${header}.${payload.slice(0, 4)} ${payload.slice(4)}.${signature}`,
    'unused bits set': `${header}.${payload}.${signature.slice(0, -1)}${signature.endsWith('B') ? 'C' : 'B'}`,
    'a header that is no object': `${encode([])}.${payload}.${signature}`,
    'a payload that is no object': `${header}.${encode('1')}.${signature}`,
    'a byte order mark': `${header}.${encode(`\ufeff${JSON.stringify(GOOD)}`)}.${signature}`,
    'malformed UTF-8': `${header}.${Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]).toString('base64url')}.${signature}`,
    'no JSON': `${header}.${encode('{')}.${signature}`,
    'nesting of 1000': `${header}.${encode(`{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`)}.${signature}`,
    'a megabyte': 'a'.repeat(1 << 20),
  };
  for (const [title, token] of Object.entries(bad)) await denied(t, token, 'structure', title);
  const tampered = `${header}.${encode({ ...GOOD, repo: 'other' })}.${signature}`;
  await denied(t, tampered, 'signature', 'a payload that was changed after signing');
});
