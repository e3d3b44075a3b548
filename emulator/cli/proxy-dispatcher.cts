import type { Dispatcher, EnvHttpProxyAgent } from 'undici';

/*
 * CommonJS, because what asks for the dispatcher cannot wait, and so that undici's files are loaded by then and no sooner.
 * They are named one by one: a program that loads the whole of undici asks for the dispatcher while it is half loaded.
 */

/** A dispatcher that goes by `https_proxy` and `no_proxy`. */
function createProxyDispatcher(): Dispatcher {
  const base = require('undici/lib/dispatcher/dispatcher.js') as typeof Dispatcher;
  // As undici's own first file does, which cannot be loaded here.
  Object.assign(base.prototype, require('undici/lib/api/index.js') as object);
  const Agent = require('undici/lib/dispatcher/env-http-proxy-agent.js') as typeof EnvHttpProxyAgent;
  return new Agent();
}

export = { createProxyDispatcher };
