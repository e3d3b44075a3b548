import { quoteWord } from '../requests/shell.js';
import { isOfGit } from './offers.js';
import { definitionOf, type Fault, type FaultKind, type Members, type Operation, operationsOf } from './records.js';
import { specOf } from './spec-text.js';
import { wholeTest } from './whole-test.js';
import { isPlainText, literal, writeJson, writeYaml } from './written.js';

/* The same fault in every way to ask for it, to copy. */

/** One way to ask for a fault; where it cannot express the fault, why. */
export type FaultForm = { readonly id: string; readonly title: string; readonly note?: string } & (
  | { readonly text: string; readonly why?: undefined }
  | { readonly why: string; readonly text?: undefined }
);

export interface FormContext {
  readonly operations: readonly Operation[];
  readonly kinds: readonly FaultKind[];
  /** `http://127.0.0.1:8080/_emulator` */
  readonly adminUrl: string;
  /** Whether the admin API asks for a token. */
  readonly hasAdminToken: boolean;
}

/** Where the commands look for an emulator that is not named. */
const DEFAULT_ORIGIN = 'http://127.0.0.1:8080';

export function faultForms(given: Fault, context: FormContext): readonly FaultForm[] {
  const fault = definitionOf(given);
  return [
    { id: 'header', title: 'Header', ...headerForm(fault) },
    { id: 'claim', title: 'Token claim', ...claimForm(fault) },
    { id: 'token', title: 'Token with the claim', ...tokenForm(fault) },
    { id: 'cli', title: 'Command line', text: commandForm(fault, context) },
    { id: 'typescript', title: 'TypeScript', text: `emulator.fault(${literal(specIn(fault) ?? fault)});` },
    { id: 'test', title: 'TypeScript, a whole test', ...wholeTest(fault, context.operations, context.kinds) },
    { id: 'scenario', title: 'Scenario step', text: scenarioForm(fault) },
    { id: 'curl', title: 'Admin API', text: curlForm(fault, context) },
  ];
}

type Expressed = { readonly text: string; readonly note?: string } | { readonly why: string };

const IN_BAND_COUNTS = 'What requests ask for is counted for each subject and repository apart.';

/** The words alone, where they say everything. */
function specIn(fault: Fault): string | undefined {
  const { when: _when, at: _at, do: _do, ...rest } = fault;
  return Object.keys(rest).length === 0 ? specOf(fault) : undefined;
}

/** What `POST faults` and the list of a scenario take: in words, as far as there are any. */
export function bodyOf(fault: Fault): Members {
  const spec = specOf(fault);
  if (spec === undefined) return { ...fault };
  const { when: _when, at: _at, do: _do, ...rest } = fault;
  return { spec, ...rest };
}

function passedBy({ at }: Fault): string | undefined {
  if (at !== 'accept' && at !== 'headers') return undefined;
  return `The stage ${at} cannot be asked for by a request: it is over when its header and its token are read.`;
}

function headerForm(fault: Fault): Expressed {
  const passed = passedBy(fault);
  if (passed !== undefined) return { why: passed };
  const { op: _op, ...conditions } = fault.match ?? {};
  const operations = operationsOf(fault);
  const { match: _match, ...alone } = fault;
  const spec = specIn(alone);
  if (spec === undefined) return { why: 'The header takes a fault in words, and this one is more than they say.' };
  if (Object.keys(conditions).length > 0) {
    return {
      why: 'A header cannot say which requests are meant: it meets the one that carries it. A token claim can.',
    };
  }
  if (operations.some((id) => isOfGit(id) || /[*?]/.test(id))) {
    return {
      why: 'Git sends a header with every request of a conversation, so it cannot say which operation is meant. A token claim can.',
    };
  }
  const which = operations.length === 0 ? 'any request' : `a request of ${operations.join(' or ')}`;
  return { text: `X-Emulator-Fault: ${spec}`, note: `On ${which}. ${IN_BAND_COUNTS}` };
}

/** The fault as a member of the claim's list. */
function claimed(fault: Fault): string | Fault {
  return specIn(fault) ?? fault;
}

function claimForm(fault: Fault): Expressed {
  const passed = passedBy(fault);
  if (passed !== undefined) return { why: passed };
  return { text: `"emu": ${writeJson({ faults: [claimed(fault)] })}`, note: IN_BAND_COUNTS };
}

function tokenForm(fault: Fault): Expressed {
  const passed = passedBy(fault);
  if (passed !== undefined) return { why: passed };
  const { repo, org, token } = (fault.match ?? {}) as { repo?: string; org?: string; token?: { sub?: string } };
  const exact = (value: string | undefined) =>
    value !== undefined && value !== '' && !/[*?]/.test(value) && isPlainText(value);
  const spec = specIn(fault);
  const asked = spec === undefined ? flag('claims', writeJson({ emu: { faults: [fault] } })) : flag('fault', spec);
  const words = [
    'npx emulator token',
    flag('repo', exact(repo) ? repo! : 'app'),
    ...(exact(org) ? [flag('org', org!)] : []),
    ...(exact(token?.sub) ? [flag('sub', token!.sub!)] : []),
    asked,
  ];
  return { text: words.join(' '), note: 'Git takes it as its password, every other client as its bearer token.' };
}

function flag(name: string, value: string): string {
  return value.startsWith('-') || value === '' ? quoteWord(`--${name}=${value}`) : `--${name} ${quoteWord(value)}`;
}

function commandForm(fault: Fault, { adminUrl }: FormContext): string {
  const origin = adminUrl.replace(/\/_emulator\/?$/, '');
  const url = origin === DEFAULT_ORIGIN ? '' : ` --url ${quoteWord(origin)}`;
  const flags = flagsOf(fault);
  const spec = specOf(fault);
  if (flags && spec !== undefined) {
    return [`npx emulator fault add ${quoteWord(spec)}`, ...flags].join(' ') + url;
  }
  return `npx emulator fault add${url} --file /dev/stdin <<'END'\n${writeJson(fault)}\nEND`;
}

/** What says which requests are meant; undefined where it takes a file. */
function flagsOf({ when: _when, at: _at, do: _do, match = {}, ...rest }: Fault): string[] | undefined {
  const { op, repo, token = {}, git = {}, ...others } = match as Record<string, Members | undefined>;
  const { sub, ...ofToken } = token;
  const { ref, ...ofGit } = git;
  if ([rest, others, ofToken, ofGit].some((members) => Object.keys(members!).length > 0)) return undefined;
  const values = [
    ['op', op === undefined ? undefined : [op].flat().join(',')],
    ['repo', repo],
    ['sub', sub],
    ['ref', ref],
  ].filter((one): one is [string, string] => one[1] !== undefined);
  if (values.some(([, value]) => value.trim() !== value || value === '' || !isPlainText(value))) return undefined;
  return values.map(([name, value]) => flag(name, value));
}

function scenarioForm(fault: Fault): string {
  const { match, ...rest } = bodyOf(fault);
  const entry =
    Object.keys(rest).length === 1 && !match && 'spec' in rest ? rest.spec : { ...rest, ...(match ? { match } : {}) };
  return `id: my-scenario${writeYaml({ steps: [{ faults: [entry] }] })}\n`;
}

function curlForm(fault: Fault, { adminUrl, hasAdminToken }: FormContext): string {
  return [
    `curl -sS -X POST ${quoteWord(`${adminUrl.replace(/\/$/, '')}/faults`)}`,
    ...(hasAdminToken ? ['-H "Authorization: Bearer $EMULATOR_ADMIN_TOKEN"'] : []),
    `-H 'Content-Type: application/json' -d ${quoteWord(writeJson(bodyOf(fault)))}`,
  ].join(' ');
}
