import { isRecord } from '../../http/exchange.js';
import type { ProxiedRequest, ProxiedResponse, Rewrite } from './proxy.js';

/**
 * Selects the requests to change. A string is a method and a path, such as `POST /api/v1/repos/grep`. A regular
 * expression is matched against both. The query is ignored.
 */
export type Place = string | RegExp;

export function isAt(place: Place, { method, path }: Pick<ProxiedRequest, 'method' | 'path'>): boolean {
  const line = `${method} ${path.split('?', 1)[0]}`;
  return typeof place === 'string' ? line === place : place.test(line);
}

/**
 * Changes the JSON bodies of responses to `place`. If `status` is given, only responses with this status are changed.
 * `Body` declares the members that `change` uses.
 */
export function changesJson<Body>(
  place: Place,
  change: (body: Body, response: ProxiedResponse) => unknown,
  status?: number,
): Rewrite {
  return {
    response: (response) => {
      if (!isAt(place, response.request) || (status ?? response.status) !== response.status) return;
      if (!String(response.headers['content-type']).includes('json') || response.body.length === 0) return;
      const body: Body = JSON.parse(response.body.toString());
      response.body = Buffer.from(JSON.stringify(change(body, response) ?? body));
    },
  };
}

/**
 * Sets one member of the JSON responses to `place`, or removes it if `value` is undefined. `path` names a nested member
 * with dots: `result.old_sha`.
 */
export function setsMember(place: Place, path: string, value: unknown, status?: number): Rewrite {
  return changesJson<unknown>(
    place,
    (body) => {
      const names = path.split('.');
      const last = names.pop() ?? '';
      const owner = names.reduce((one, name) => (isRecord(one) ? one[name] : undefined), body);
      if (!isRecord(owner)) return;
      if (value === undefined) Reflect.deleteProperty(owner, last);
      else Reflect.set(owner, last, value);
    },
    status,
  );
}

export function changesStatus(place: Place, from: number, to: number): Rewrite {
  return {
    response: (response) => {
      if (isAt(place, response.request) && response.status === from) response.status = to;
    },
  };
}

/** Makes the server answer with `status` if `isMeant` returns true for the body of a request to `place`. */
export function answersBody(place: Place, isMeant: (body: string) => boolean, status: number): Rewrite {
  const meant = new WeakSet<object>();
  return {
    request: (request) => {
      if (isAt(place, request) && isMeant(request.body.toString())) meant.add(request);
    },
    response: (response) => {
      if (meant.has(response.request)) response.status = status;
    },
  };
}

/**
 * Sets a header of the responses to `place`, or removes it if `value` is undefined. If `from` is given, only responses
 * with this status are changed.
 */
export function setsHeader(place: Place, name: string, value?: string, from?: number): Rewrite {
  return {
    response: ({ request, headers, status }) => {
      if (!isAt(place, request) || (from ?? status) !== status) return;
      if (value === undefined) delete headers[name];
      else headers[name] = value;
    },
  };
}

/** Makes the server ignore a query parameter. The proxy removes it from requests to `place`. */
export function ignoresParameter(place: Place, name: string): Rewrite {
  return {
    request: (request) => {
      if (!isAt(place, request)) return;
      const [path, query = ''] = request.path.split('?');
      const pairs = query.split('&').filter((pair) => pair.split('=', 1)[0] !== name);
      request.path = `${path}?${pairs.join('&')}`;
    },
  };
}

/**
 * Makes the server use another default for a query parameter. The proxy adds it to requests to `place` that lack it.
 */
export function assumesParameter(place: Place, name: string, value: string): Rewrite {
  return {
    request: (request) => {
      if (!isAt(place, request) || new URLSearchParams(request.path.split('?')[1]).has(name)) return;
      request.path += `${request.path.includes('?') ? '&' : '?'}${name}=${value}`;
    },
  };
}

/**
 * Makes the server ignore a member of request bodies. The proxy removes it, at any depth, from the first JSON line of
 * requests to `place`.
 */
export function ignoresMember(place: Place, name: string): Rewrite {
  return changesMember(place, name, () => undefined);
}

/**
 * Makes the server use only the first item of a list in request bodies. The proxy removes the other items from requests
 * to `place`.
 */
export function takesFirstItem(place: Place, name: string): Rewrite {
  return changesMember(place, name, (list) => (Array.isArray(list) ? list.slice(0, 1) : list));
}

/**
 * Changes each member with this name in request bodies to `place`, at any depth of the first JSON line. If `change`
 * returns undefined, the member is removed.
 */
export function changesMember(place: Place, name: string, change: (value: unknown) => unknown): Rewrite {
  return {
    request: (request) => {
      if (!isAt(place, request) || request.body.length === 0) return;
      const [first = '', ...more] = request.body.toString().split('\n');
      try {
        const kept = JSON.stringify(JSON.parse(first), (key, value) => (key === name ? change(value) : value));
        request.body = Buffer.from([kept, ...more].join('\n'));
      } catch {
        // Forward a body that is not JSON unchanged, because the server itself must refuse it.
      }
    },
  };
}

/**
 * Makes the server use another default for a member of request bodies. The proxy adds it to requests to `place` that
 * lack it. A dot in `path` names a nested member: `a.b`.
 */
export function assumesMember(place: Place, path: string, value: unknown): Rewrite {
  return {
    request: (request) => {
      if (!isAt(place, request)) return;
      const body: Record<string, object> = JSON.parse(request.body.toString());
      const [owner = '', name = ''] = path.split('.');
      body[owner] = { [name]: value, ...body[owner] };
      request.body = Buffer.from(JSON.stringify(body));
    },
  };
}

/**
 * Changes the JSON body of requests to `place`. If the body has several lines, only the first is changed. `Body`
 * declares the members that `change` uses.
 */
export function changesRequest<Body>(place: Place, change: (body: Body) => unknown): Rewrite {
  return {
    request: (request) => {
      if (!isAt(place, request) || request.body.length === 0) return;
      const [first = '', ...more] = request.body.toString().split('\n');
      let body: Body;
      try {
        body = JSON.parse(first);
      } catch {
        return; // Forwarded unchanged, and refused by the server.
      }
      request.body = Buffer.from([JSON.stringify(change(body) ?? body), ...more].join('\n'));
    },
  };
}

/** Changes the query parameters of requests to `place`. */
export function changesQuery(place: Place, change: (query: URLSearchParams) => void): Rewrite {
  return {
    request: (request) => {
      if (!isAt(place, request)) return;
      const [path, text] = request.path.split('?');
      const query = new URLSearchParams(text);
      change(query);
      request.path = query.size === 0 ? `${path}` : `${path}?${query}`;
    },
  };
}

/** Makes the server take parameters that match `similar` for the name `main` of the default branch. */
export function changesMain(place: Place, similar: RegExp, name = 'ref'): Rewrite {
  return changesQuery(place, (query) => {
    if (similar.test(query.get(name) ?? '')) query.set(name, 'main');
  });
}

/**
 * Changes the JSON responses to requests to `place` whose body matches. The response must have one of these statuses.
 * `Body` declares the members that `change` uses.
 */
export function changesAnswerTo<Body>(
  place: Place,
  isMeant: (body: string) => boolean,
  change: (body: Body) => void,
  statuses: readonly number[],
): Rewrite {
  const meant = new WeakSet<object>();
  return {
    request: (request) => {
      if (isAt(place, request) && isMeant(request.body.toString())) meant.add(request);
    },
    response: (response) => {
      if (!meant.has(response.request) || !statuses.includes(response.status)) return;
      const body: Body = JSON.parse(response.body.toString());
      change(body);
      response.body = Buffer.from(JSON.stringify(body));
    },
  };
}
