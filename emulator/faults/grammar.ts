import { isDeepStrictEqual } from 'node:util';
import { problem, specifiedCode } from '../http/problem.js';
import type { Action, Fault, When } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import type { Key } from './key.js';
import { codeOf, KINDS, kindNameOf, kindOf, TEXT_NAMES } from './kinds/index.js';
import { type Kind, memberOf } from './kinds/kind.js';
import { type Member, ownMember, valueAt, withValueAt } from './member.js';
import { MEMBERS, textKeyOf } from './members.js';
import { STAGES, type Stage } from './stage.js';

/** Fault that was parsed from a text such as `rate_limited*2`, together with that text. */
export interface WrittenFault {
  readonly text: string;
  /**
   * Name at the start of the text, such as `rate_limited`, or the given `id`. It becomes the id of a fault that a
   * request carries.
   */
  readonly name: string;
  readonly fault: Fault;
}

const FAULT = /^([a-z0-9_]+)(?::([a-z0-9_]+))?(?:\*(\d{1,9}))?(?:\+(\d{1,9}))?(?:@([a-z.]+))?((?:;[^;]*)*)$/;
const FORM = 'name[*times][+skip][@stage][;key=value]';

/**
 * Parses one or more faults in text form, separated by commas:
 *
 *     name[*times][+skip][@stage][;key=value]…
 *
 * Characters of a value may be percent-encoded, such as `%2C` for a comma. `key*=value` and `key~=value` search for a
 * text and for a regular expression (see `COMPARISONS`). `code:NAME` is equivalent to `NAME`. Throws
 * `bad_request` if the text is invalid. The message begins with `where`, the name of the header, claim or member.
 */
export function parseFaults(value: string, where: string): WrittenFault[] {
  const texts = value.split(',').map((text) => text.trim());
  if (texts.length > FAULT_LIMITS.perRequest) {
    throw problem('bad_request', `${where}: at most ${FAULT_LIMITS.perRequest} faults are allowed for one request.`);
  }
  return texts.map((text) => parseFault(text, where));
}

/**
 * Parses one fault in text form, such as `rate_limited*2@before`. Throws `bad_request` if the text is invalid. The
 * message begins with `where`, the name of the header, claim or member.
 */
export function parseFault(text: string, where: string): WrittenFault {
  const refuse = (detail: string) => problem('bad_request', `${where}: ${detail}`);
  const match = FAULT.exec(text);
  if (!match) throw refuse(`${JSON.stringify(text.slice(0, 200))} is not ${FORM}.`);
  const [, first, second, times, skip, stage, keys] = match as unknown as [string, string, ...(string | undefined)[]];
  if (second !== undefined && first !== 'code')
    throw refuse(`${first}:${second} is not a fault. A colon is allowed only after code, as in code:NAME.`);
  const name = specifiedCode(second ?? first);
  const kind = TEXT_NAMES.get(name);
  if (!kind || (second !== undefined && !isCode(name))) {
    throw refuse(`unknown fault ${second ?? first}. The faults are ${[...TEXT_NAMES.keys()].join(', ')}.`);
  }
  if (stage !== undefined && !Object.hasOwn(STAGES, stage)) {
    throw refuse(`unknown stage ${stage}. The stages are ${Object.keys(STAGES).join(', ')}.`);
  }
  if (times !== undefined && Number(times) === 0)
    throw refuse(`the fault ${name}*0 would never fire. The number after * must be at least 1.`);
  const when: When = {
    ...(skip !== undefined && { skip: Number(skip) }),
    ...(times !== undefined && { times: Number(times) }),
  };
  const given = { ...(Object.keys(when).length > 0 && { when }), ...(stage !== undefined && { at: stage as Stage }) };
  const { values, fault } = readKeys(second ?? first, kind, keys ?? '', given, refuse);
  const action = { [isCode(name) ? 'error' : name]: kind.ofKeys ? kind.ofKeys(values) : values } as unknown as Action;
  const whole: Fault = { ...fault, do: action };
  return { text, name: whole.id ?? second ?? first, fault: whole };
}

/** Returns true if the name is an error code, not a kind of fault such as `cut`. */
function isCode(name: string): boolean {
  return !Object.hasOwn(KINDS, name);
}

/**
 * Parses the pairs `;key=value` at the end of a fault's text. Keys of the fault's kind, such as `bytes` of `cut`, are
 * returned in `values`. Keys that every fault has, such as `match.repo`, are set in a copy of `given`, which is
 * returned as `fault`.
 */
function readKeys(
  name: string,
  { keys, needs = [], oneOf = [], requires = {} }: Kind,
  text: string,
  given: object,
  refuse: (detail: string) => Error,
): { readonly values: Readonly<Record<string, unknown>>; readonly fault: object } {
  const values: Record<string, unknown> = {};
  let fault = given;
  for (const pair of text.split(';').filter((part) => part !== '')) {
    const equals = pair.indexOf('=');
    const key = equals < 0 ? pair : pair.slice(0, equals);
    const own = Object.hasOwn(keys, key) ? keys[key] : undefined;
    const member = own ? undefined : findMember(key);
    const row = own ?? member?.key;
    if (!row) {
      const known = Object.keys(keys);
      throw refuse(
        `the fault ${name} has no key ${JSON.stringify(key)}. ${known.length > 0 ? `Its keys are ${known.join(', ')}` : 'It takes no keys'}.`,
      );
    }
    const isTwice = member ? valueAt(fault, member.names) !== undefined : Object.hasOwn(values, memberOf(key));
    if (isTwice) throw refuse(`the fault ${name} has the key ${key} twice, but it is allowed only once.`);
    const decoded = equals < 0 ? undefined : decode(pair.slice(equals + 1));
    const value = decoded === undefined ? undefined : row.read(decoded);
    if (value === undefined) throw refuse(`the key ${key} of the fault ${name} must be ${row.wants}.`);
    if (member) fault = withValueAt(fault, member.names, member.how === undefined ? value : { [member.how]: value });
    else values[memberOf(key)] = value;
  }
  const isGiven = (key: string) => Object.hasOwn(values, memberOf(key));
  const missing = needs.find((key) => !isGiven(key));
  if (missing !== undefined)
    throw refuse(
      `the fault ${name} requires the key ${missing}, as in ${name};${missing}=VALUE: ${keys[missing]!.wants}.`,
    );
  const alone = Object.entries(requires).find(([key, other]) => isGiven(key) && !isGiven(other));
  if (alone !== undefined) throw refuse(`the key ${alone[0]} of the fault ${name} requires the key ${alone[1]}.`);
  const points = oneOf.filter(isGiven);
  if (points.length > 1)
    throw refuse(`the fault ${name} takes only one of the keys ${oneOf.join(', ')}, but has ${points.join(' and ')}.`);
  return { values, fault };
}

/**
 * Characters before `=` in the text form that select how a value of a request is compared, with the member of the
 * matcher in JSON. Without such a character, the value is a glob.
 */
const COMPARISONS = { '*': 'contains', '~': 'regex' } as const;

interface FoundMember {
  readonly key: Key;
  readonly names: readonly string[];
  /** Member of the matcher that the value sets; undefined if the value itself is set. */
  readonly how?: (typeof COMPARISONS)[keyof typeof COMPARISONS];
}

/**
 * Finds the member of the JSON form that a key of the text form sets. Examples: `match.repo`, `match.header.X-Name`,
 * `match.body./name~`. Returns undefined if there is no such member.
 */
function findMember(key: string): FoundMember | undefined {
  const short = textKeyOf(key);
  for (const { path, key: row, nameOf, mark } of MEMBERS) {
    const start = `${textKeyOf(path)}.`;
    if (mark !== undefined) continue;
    if (nameOf === undefined && `${short}.` === start) return { key: row, names: path.split('.') };
    if (nameOf === undefined || !short.startsWith(start)) continue;
    const sign = Object.keys(COMPARISONS).find((one) => short.endsWith(one)) as keyof typeof COMPARISONS | undefined;
    const name = decode(short.slice(start.length, sign === undefined ? undefined : -sign.length));
    if (name === undefined) return undefined;
    return { key: row, names: [...path.split('.'), name], ...(sign && { how: COMPARISONS[sign] }) };
  }
  return undefined;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Returns the text form of a fault, such as `rate_limited*2@before`; undefined if only JSON can express the fault. */
export function writeFault(fault: Fault): string | undefined {
  const [action] = [fault.do ?? []].flat();
  if (action === undefined) return undefined;
  const { kind, value } = kindOf(action);
  const name = codeOf(action) ?? kindNameOf(action);
  const keys = Object.keys(TEXT_NAMES.get(name)!.keys);
  const values = kind.toKeys ? kind.toKeys(value) : value;
  const pairs = [
    ...keys.map((key) => [key, ownMember(values, memberOf(key))] as const),
    ...MEMBERS.filter(({ mark }) => mark === undefined).flatMap((member) => pairsOf(member, fault)),
  ];
  const { skip, times } = fault.when ?? {};
  const text = [
    name,
    times === undefined ? '' : `*${times}`,
    skip === undefined ? '' : `+${skip}`,
    fault.at === undefined ? '' : `@${fault.at}`,
    ...pairs.flatMap(([key, one]) => (one === undefined ? [] : [`;${key}=${encode(String(one))}`])),
  ].join('');
  return isDeepStrictEqual(readBack(text), fault) ? text : undefined;
}

function pairsOf({ path, nameOf }: Member, fault: Fault): (readonly [key: string, value: unknown])[] {
  const value = valueAt(fault, path.split('.'));
  const key = textKeyOf(path);
  if (nameOf === undefined) return [[key, value]];
  return Object.entries((value ?? {}) as Readonly<Record<string, unknown>>).map(([name, matcher]) => {
    const signs = Object.entries(COMPARISONS).filter(([, how]) => ownMember(matcher, how) !== undefined);
    const [sign, how] = signs[0] ?? [''];
    return [
      `${key}.${encode(name).replaceAll('*', '%2A')}${sign}`,
      how === undefined ? matcher : ownMember(matcher, how),
    ];
  });
}

/**
 * Parses the output of `writeFault`, to check that nothing was lost. Returns undefined if the text is invalid, because
 * the text form cannot contain some character of a value.
 */
function readBack(text: string): Fault | undefined {
  try {
    return parseFault(text, '').fault;
  } catch {
    return undefined;
  }
}

/**
 * Percent-encodes characters that are special in the text form of faults, in shells or in header fields. Leaves `/`,
 * `:`, `+` and `@` readable, because they are not special inside a value.
 */
function encode(value: string): string {
  return encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, '\ufffd'))
    .replaceAll(/%(?:2F|3A|2B|40)/g, (one) => decodeURIComponent(one))
    .replaceAll(/[!'()~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}
