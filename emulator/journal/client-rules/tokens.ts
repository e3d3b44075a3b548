import type { ClientRule } from './rule.js';

export const TOKEN_RULES: readonly ClientRule[] = [
  {
    id: 'expired-token',
    title: 'A token is not sent once it has expired',
    source: 'Authentication, Token claims (exp); RFC 7519, 4.1.4',
    level: 'must',
    evaluate: () => (request) => {
      const expires = request.record.token?.expires;
      if (expires === undefined) return undefined;
      const isExpired = request.began >= Date.parse(expires);
      return { request, fault: isExpired ? `Its token had expired at ${expires}.` : undefined };
    },
  },
  {
    id: 'secret-in-url',
    title: 'No token and no password is sent in the target of a request',
    source: 'What the service does, rule 1 (Authorization: Bearer); RFC 6750, 5.3; RFC 9110, 17.9',
    level: 'must',
    evaluate: () => (request) => {
      const { path, query } = request.record;
      const hasSecret = `${path}?${query}`.includes('[redacted]');
      return {
        request,
        fault: hasSecret ? 'Its target has a secret, and targets are logged on their way.' : undefined,
      };
    },
  },
];
