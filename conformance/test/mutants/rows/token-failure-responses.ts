import { type Mutant, proxied } from '../mutant.js';
import { API, REPO } from '../places.js';
import { changesStatus, isAt, setsMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
  proxied(
    'authfail-answers-403-without-a-token',
    'authfail.401.no-header',
    'answers 403 without a token',
    changesStatus(API, 401, 403),
  ),
  proxied('authfail-takes-any-scheme', 'authfail.401.scheme-basic', 'takes a token under any scheme', {
    request: (request) => {
      const { authorization = '' } = request.headers;
      if (!isAt(REPO, request)) return;
      const basic = /^Basic (.*)/.exec(authorization)?.[1];
      const token = basic === undefined ? authorization.replace(/^\w+ /, '') : Buffer.from(basic, 'base64').toString();
      if (token !== '') request.headers.authorization = `Bearer ${token.replace(/^t:/, '')}`;
    },
  }),
  proxied(
    'authfail-blames-the-token-for-its-own-trouble',
    'authfail.403.unavailable',
    'blames the token where it cannot verify any',
    setsMember(REPO, 'code', 'forbidden', 403),
  ),
];
