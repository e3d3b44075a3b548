import { isRecord } from '../../http/exchange.js';
import type { ProxiedResponse, Rewrite } from '../mutants/proxy.js';
import { TRUNK_IS_DEFAULT, UNTYPICAL_ARCHIVE } from './rewrites.js';

/** Legal behaviour of a service that differs from the emulator's. */
export interface UnusualProperty {
  readonly name: string;
  readonly rewrite: Rewrite;
  /** Ids of the SHOULD rules that must warn about this property. */
  readonly warns?: readonly string[];
}

/**
 * Returns a rewrite that calls `change` for each JSON value in API responses. Inner values are changed before the
 * values that contain them.
 */
function changesValues(change: (value: unknown, key: string) => unknown): Rewrite {
  return {
    response: (response) => {
      if (!isJson(response)) return;
      response.body = Buffer.from(
        JSON.stringify(JSON.parse(response.body.toString(), (key, value) => change(value, key))),
      );
    },
  };
}

/** Returns true for a JSON response of the API. The content of a JSON file is not such a response. */
function isJson({ request, status, headers, body }: ProxiedResponse): boolean {
  if (/\/file\?/.test(request.path) && status === 200) return false;
  return /^application\/(problem\+)?json/i.test(String(headers['content-type'])) && body.length > 0;
}

function isProblem(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && typeof value.status === 'number' && typeof value.code === 'string';
}

function responseOnly(change: (response: ProxiedResponse) => void): Rewrite {
  return { response: change };
}

const UTC = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/;

/**
 * Behaviours of a service that differ from the emulator but are legal, alone and together. If a rule fails because of
 * one of them, the rule demands more than the specification.
 */
export const UNUSUAL_PROPERTIES: readonly UnusualProperty[] = [
  { name: 'another default branch than main', rewrite: TRUNK_IS_DEFAULT },
  {
    name: 'media types in capitals, with a parameter',
    rewrite: responseOnly((response) => {
      if (!isJson(response)) return;
      const [type = ''] = String(response.headers['content-type']).split(';');
      response.headers['content-type'] = `${type.replace('application', 'Application')};charset=UTF-8`;
    }),
  },
  {
    name: 'indented JSON with members in reverse order',
    rewrite: responseOnly((response) => {
      if (!isJson(response)) return;
      const reverse = (_key: string, value: unknown) =>
        isRecord(value) ? Object.fromEntries(Object.entries(value).reverse()) : value;
      response.body = Buffer.from(`${JSON.stringify(JSON.parse(response.body.toString(), reverse), null, 2)}\n`);
    }),
  },
  {
    name: 'additional members in every object that has a name for it',
    rewrite: changesValues((value) =>
      isRecord(value) && ('sha' in value || 'repo_id' in value || 'has_more' in value || isProblem(value))
        ? { ...value, x_added: { by: 'service' } }
        : value,
    ),
  },
  {
    name: 'times with an offset and fractions of seconds',
    rewrite: changesValues((value) => (typeof value === 'string' ? value.replace(UTC, '$1.123456+00:00') : value)),
  },
  {
    // Keep the details of 401 and 403 responses, because the specification prescribes these texts.
    name: 'other titles, types and details of problems',
    rewrite: changesValues((value) => {
      if (!isProblem(value)) return value;
      const detail = value.status === 401 || value.status === 403 ? value.detail : `Nein (${value.code}).`;
      return { ...value, title: 'Fehler', type: 'about:blank', detail, error: detail };
    }),
  },
  {
    name: 'opaque cursors of another form',
    rewrite: {
      request: (request) => {
        const decode = (text: string) => Buffer.from(text, 'base64url').toString();
        request.path = request.path.replace(/([?&]cursor=)c\.([\w-]+)/, (_all, name: string, cursor: string) => {
          return name + encodeURIComponent(decode(cursor));
        });
        const body = request.body.toString();
        if (!/"cursor":"c\.[\w-]+"/.test(body)) return;
        request.body = Buffer.from(
          body.replace(
            /"cursor":"c\.([\w-]+)"/,
            (_all, cursor: string) => `"cursor":${JSON.stringify(decode(cursor))}`,
          ),
        );
      },
      response: changesValues((value, key) =>
        key === 'next_cursor' && typeof value === 'string' && value !== ''
          ? `c.${Buffer.from(value).toString('base64url')}`
          : value,
      ).response!,
    },
  },
  {
    name: 'repository ids of another form',
    rewrite: changesValues((value, key) => (key === 'repo_id' && typeof value === 'string' ? `R_${value}==` : value)),
  },
  {
    name: 'headers that proxies and gateways add',
    rewrite: responseOnly(({ headers }) => {
      headers.server = 'gateway/1.2';
      headers.via = '1.1 edge';
      headers['x-request-id'] = '7f3c';
      headers['strict-transport-security'] = 'max-age=63072000';
      headers['set-cookie'] = ['route=a; Path=/', 'lb=b; HttpOnly'];
    }),
  },
  {
    name: 'connections that close after each response',
    rewrite: responseOnly(({ headers }) => {
      headers.connection = 'close';
    }),
  },
  {
    name: 'Git over protocol version 0 only',
    rewrite: {
      request: ({ headers }) => {
        delete headers['git-protocol'];
      },
    },
  },
  {
    name: 'untypical archives',
    rewrite: UNTYPICAL_ARCHIVE,
    warns: [
      'archive.prefix.default',
      'archive.header.content-type',
      'archive.header.disposition',
      'archive.header.cache-control',
    ],
  },
];

/** Combines several rewrites into one. Requests pass through them in order, and responses in reverse order. */
export function combine(rewrites: readonly Rewrite[]): Rewrite {
  return {
    request: (request) => {
      for (const rewrite of rewrites) rewrite.request?.(request);
    },
    response: (response) => {
      for (const rewrite of [...rewrites].reverse()) rewrite.response?.(response);
    },
  };
}
