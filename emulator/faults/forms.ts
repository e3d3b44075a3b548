import type { Action, Fault } from './fault.js';
import { writeFault } from './grammar.js';
import { stageBeforeInBand } from './kinds/index.js';
import type { FaultedOperation } from './operation-shape.js';
import { quoteText, quoteWord } from './shell.js';
import { type Written, wholeTest } from './whole-test.js';

/**
 * One way to inject a given fault: a header, a token claim, a command line, or TypeScript. The fault editor shows all
 * of them for copying.
 */
export interface FaultForm extends Written {
  readonly id: string;
  readonly title: string;
}

export interface FormContext {
  readonly operations: readonly FaultedOperation[];
  /** Origin of the emulator, such as `http://127.0.0.1:8080`. */
  readonly origin: string;
  /** True if the admin API requires a token. */
  readonly hasAdminToken: boolean;
}

/** Address to which `emulator fault add` sends the fault if `--url` is not given. */
const DEFAULT_ORIGIN = 'http://127.0.0.1:8080';

const IN_BAND_COUNTS = 'A fault in a header or token is counted separately for each subject and repository.';

/**
 * Returns all forms in which the fault can be given to the emulator. The id is omitted, so that a form can be used
 * several times; an id can be used only once.
 */
export function formsOf({ id: _, ...fault }: Fault, context: FormContext): readonly FaultForm[] {
  const text = writeFault(fault);
  const json = writeJson(fault);
  const body = writeJson(text === undefined ? fault : { spec: text });
  // `"__proto__": …` in a TypeScript object literal would set the prototype. A computed name avoids this.
  const literal = text === undefined ? json.replaceAll('"__proto__":', '["__proto__"]:') : `'${text}'`;
  return [
    { id: 'header', title: 'Header', ...headerForm(text, fault) },
    { id: 'claim', title: 'Token claim', ...inBand(fault, `"emu": ${writeJson({ faults: [text ?? fault] })}`) },
    { id: 'token', title: 'Token with the claim', ...inBand(fault, tokenCommand(text, fault), TOKEN_NOTE) },
    { id: 'command', title: 'Command line', text: addCommand(text ?? json, text !== undefined, context) },
    { id: 'typescript', title: 'TypeScript', text: `emulator.fault(${literal});` },
    { id: 'json', title: 'JSON', text: json },
    { id: 'test', title: 'TypeScript, a whole test', ...wholeTest(fault, literal, context.operations) },
    {
      id: 'scenario',
      title: 'Scenario step',
      text: `id: my-scenario\nsteps:\n  - faults:\n      - ${writeJson(text ?? fault)}\n`,
    },
    { id: 'curl', title: 'Admin API', text: curlCommand(body, context) },
  ];
}

/**
 * Matches characters that are invisible or change how other characters are displayed. The JSON output escapes them, so
 * that readers see everything they copy.
 */
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/**
 * Returns the value as JSON in one line, with invisible characters escaped. The result is also valid YAML and
 * TypeScript.
 */
function writeJson(value: unknown): string {
  const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replaceAll(UNSEEN, escaped);
}

/**
 * Returns the form for a fault that a request carries in a header or claim. If the fault is disabled, or its stage is
 * over before headers and claims are read, returns the reason instead.
 */
function inBand(fault: Fault, text: string, note = IN_BAND_COUNTS): Written {
  if (fault.enabled === false) return { why: 'A request cannot carry a disabled fault.' };
  const actions = [fault.do ?? fault.sequence ?? []].flat().filter((one) => one !== 'pass') as Action[];
  const at = stageBeforeInBand(fault.at, actions);
  if (at === undefined) return { text, note };
  return {
    why: `A request cannot carry a fault at the stage ${at}, because that stage is over before its header and token are read.`,
  };
}

function headerForm(text: string | undefined, fault: Fault): Written {
  if (text !== undefined) return inBand(fault, `X-Emulator-Fault: ${text}`);
  return { why: 'A request header can have a fault only in the text form, which cannot express this fault.' };
}

const TOKEN_NOTE = 'A Git client sends the token as its password, and every other client as a bearer token.';

/**
 * Matches texts without special characters of globs, the fault syntax or shells. Only such texts are copied from
 * `match` into a command.
 */
const EXACT = /^\w[\w./@:-]*$/;

/**
 * Returns the command that creates a token with the fault. The token is for the repository, organization and user in
 * `match`, if these are exact names.
 */
function tokenCommand(text: string | undefined, fault: Fault): string {
  const { repo, org, token } = fault.match ?? {};
  const names = Object.entries({ repo, org, sub: token?.sub }).filter(([, value]) => EXACT.test(value ?? ''));
  const flags = Object.entries({ repo: 'app', ...Object.fromEntries(names) }).map(
    ([name, value]) => `--${name} ${value}`,
  );
  const asked =
    text === undefined
      ? `--claims ${quoteWord(writeJson({ emu: { faults: [fault] } }))}`
      : `--fault ${quoteWord(text)}`;
  return ['npx emulator token', ...flags, asked].join(' ');
}

function addCommand(fault: string, isText: boolean, { origin }: FormContext): string {
  const url = origin === DEFAULT_ORIGIN ? '' : ` --url ${quoteWord(origin)}`;
  if (isText) return `npx emulator fault add ${quoteWord(fault)}${url}`;
  return `npx emulator fault add${url} --file /dev/stdin <<'END'\n${fault}\nEND`;
}

function curlCommand(body: string, { origin, hasAdminToken }: FormContext): string {
  return [
    `curl -sS -X POST ${quoteWord(`${origin}/_emulator/faults`)}`,
    ...(hasAdminToken ? ['-H "Authorization: Bearer $EMULATOR_ADMIN_TOKEN"'] : []),
    `-H 'Content-Type: application/json' -d ${quoteText(body)}`,
  ].join(' ');
}
