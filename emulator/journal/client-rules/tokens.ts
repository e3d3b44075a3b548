import type { ClientRule } from './rule.js';

export const TOKEN_RULES: readonly ClientRule[] = [
  {
    id: 'expired-token',
    title: 'A token is not sent after it has expired',
    source: 'claim.exp.expired; RFC 7519, section 4.1.4',
    level: 'must',
    evaluate: () => (request) => {
      const expires = request.record.token?.expires;
      if (expires === undefined) return undefined;
      const isExpired = request.startTime >= Date.parse(expires);
      return {
        request,
        violation: isExpired ? `The token of the request had already expired at ${expires}.` : undefined,
      };
    },
  },
  {
    id: 'secret-in-url',
    title: 'The request target contains no token and no password',
    source: 'general.bearer.required; RFC 6750, section 5.3; RFC 9110, section 17.9',
    level: 'must',
    evaluate: () => (request) => {
      const { path, query } = request.record;
      const hasSecret = `${path}?${query}`.includes('[redacted]');
      return {
        request,
        violation: hasSecret
          ? 'The URL of the request contains a token or password, which proxies and servers write to their logs.'
          : undefined,
      };
    },
  },
];
