import { isRecord } from '../../http/exchange.js';
import type { ProxiedRequest, ProxiedResponse, Rewrite } from './proxy.js';

/** Selects requests to change: `POST /api/v1/repos/grep`, or any method if none is given. The query is ignored. */
export type Place = string | RegExp;

export function isAt(place: Place, { method, path }: Pick<ProxiedRequest, 'method' | 'path'>): boolean {
  const line = `${method} ${path.split('?', 1)[0]}`;
  return typeof place === 'string' ? line === place : place.test(line);
}

/** Changes the JSON of responses with that status. `Body` has the members that the change uses. */
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

/** Sets one member at a path of names in the JSON of responses; undefined removes it. */
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

/** Sets or removes a header of responses with that status. */
export function setsHeader(place: Place, name: string, value?: string, from?: number): Rewrite {
  return {
    response: ({ request, headers, status }) => {
      if (!isAt(place, request) || (from ?? status) !== status) return;
      if (value === undefined) delete headers[name];
      else headers[name] = value;
    },
  };
}

/** Makes the server ignore a query parameter. */
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

/** Changes a default of the server: adds a query parameter if the client left it out. */
export function assumesParameter(place: Place, name: string, value: string): Rewrite {
  return {
    request: (request) => {
      if (!isAt(place, request) || new URLSearchParams(request.path.split('?')[1]).has(name)) return;
      request.path += `${request.path.includes('?') ? '&' : '?'}${name}=${value}`;
    },
  };
}

/** Makes the server ignore a member of a request, at any depth in the first line. */
export function ignoresMember(place: Place, name: string): Rewrite {
  return changesMember(place, name, () => undefined);
}

/** Makes the server use only the first item of a list in a request. */
export function takesFirstItem(place: Place, name: string): Rewrite {
  return changesMember(place, name, (list) => (Array.isArray(list) ? list.slice(0, 1) : list));
}

/** Changes a member of a request, at any depth in the first line; undefined removes it. */
function changesMember(place: Place, name: string, change: (value: unknown) => unknown): Rewrite {
  return {
    request: (request) => {
      if (!isAt(place, request) || request.body.length === 0) return;
      const [first = '', ...more] = request.body.toString().split('\n');
      try {
        const kept = JSON.stringify(JSON.parse(first), (key, value) => (key === name ? change(value) : value));
        request.body = Buffer.from([kept, ...more].join('\n'));
      } catch {
        // A body that is not JSON is forwarded unchanged, and the server refuses it.
      }
    },
  };
}

/** Changes a default of the server: adds a member of the body, `a.b`, if the client left it out. */
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

/** Changes the JSON of requests, or of their first line. `Body` has the members that the change uses. */
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

/** Changes the parameters of some requests. */
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
