import { CORS_ROWS, type CorsOptions } from './cors-option.js';
import { type GivenKey, type KeyOption, key } from './key-option.js';
import { LIMITS, type Limits } from './limits.js';
import {
  COUNT,
  choice,
  clock,
  flag,
  forgePrefix,
  hostName,
  integer,
  list,
  OptionError,
  portRange,
  type Read,
  type Row,
  readNamed,
  secret,
  servedHostName,
  text,
  UNITS,
  urlsByName,
} from './option-values.js';
import { OF_SCENARIO, type ScenarioOption, scenarioFile } from './scenario-option.js';
import { checkTlsOptions, TLS_ROWS, type TlsOptions } from './tls-options.js';
import { DEFAULT_VARIANTS, type Variants } from './variants.js';
import { variants } from './variants-option.js';

export { OptionError } from './option-values.js';

/** Start options of an emulator. `ROWS` has the default and help of each option; `limits` has its own table. */
export interface EmulatorOptions extends TlsOptions, CorsOptions {
  readonly host: string;
  /** Port of the first organization; 0 to use any free port. Other organizations always use free ports. */
  readonly port: number;
  /** Names of the organizations (tenants). Each organization has its own port. */
  readonly org: readonly string[];
  readonly readyFile: string | undefined;
  /** True to stop when the parent process ends. Only the command line uses it. */
  readonly exitWithParent: boolean;
  readonly log: 'pretty' | 'json' | 'quiet';
  /**
   * Either `real` for the machine's time, or the initial time of a clock that advances by 1 ms per request. The initial
   * time is in milliseconds since 1970.
   */
  readonly clock: 'real' | number;
  readonly seed: string;
  readonly variants: Variants;
  readonly allowedHost: readonly string[];
  /**
   * Token that the admin API (which controls the emulator) requires. If undefined, the admin API needs no token on
   * loopback; on other addresses, a token is generated.
   */
  readonly adminToken: string | undefined;
  /** Public keys that are registered in addition to the published test keys. */
  readonly key: readonly KeyOption[];
  /**
   * True to register the published test keys. If undefined, they are registered only if the emulator listens on
   * loopback.
   */
  readonly testKeys: boolean | undefined;
  /**
   * Origins that replace the real external forges (hosting services) when repositories are fetched, by provider name.
   */
  readonly upstreamHost: Readonly<Record<string, string>>;
  /** Ports for namespaces (isolated worlds), in the order in which they are tried. 0 means any free port. */
  readonly namespacePorts: readonly number[];
  readonly allowUpstream: readonly string[];
  readonly allowWebhook: readonly string[];
  readonly webhookPrefix: string;
  readonly forgePrefix: string;
  readonly forgeApps: number;
  readonly hosting: 'on' | 'off';
  readonly fsck: 'strict' | 'off';
  /**
   * True if requests may ask for faults (simulated failures). If undefined, they may only if the emulator listens on
   * loopback.
   */
  readonly inbandFaults: boolean | undefined;
  /**
   * Scenario file with the initial state and scripted events. Its seed and clock apply unless the options `seed` and
   * `clock` are set.
   */
  readonly scenario: ScenarioOption | undefined;
  /** Path or URL of an exported state or a Git repository, which is imported at the start. */
  readonly import: string | undefined;
  /** Path of the folder in which the state is saved. If undefined, the state is kept only in memory. */
  readonly persist: string | undefined;
  readonly includeSecrets: boolean;
  /** True to send unusual responses that the specification permits, such as unknown members, for tests of clients. */
  readonly adversarial: boolean;
  readonly limits: Limits;
}

/** Start options as the library accepts them. All are optional. Text is read as on the command line. */
export type GivenOptions = {
  readonly [Name in Exclude<keyof EmulatorOptions, 'limits' | 'variants' | 'key'>]?: EmulatorOptions[Name] | string;
} & { readonly key?: GivenKey | readonly GivenKey[] } & {
  readonly variants?: Partial<Variants> | string;
  readonly limits?: Partial<Limits>;
};

/**
 * Pattern of an organization name. It must be a DNS label, because the name is part of the host name
 * `api.<org>.localhost`.
 */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Table of all options except limits. The flag (`--allowed-host`) and the environment variable
 * (`EMULATOR_ALLOWED_HOST`) are derived from the option's name.
 */
const ROWS: { readonly [Name in Exclude<keyof EmulatorOptions, 'limits'>]: Row<EmulatorOptions[Name]> } = {
  host: {
    default: '127.0.0.1',
    value: 'ADDRESS',
    help: 'Address to listen on.',
    read: text('an address', /^[\w.:-]+$/),
  },
  port: {
    default: 8080,
    value: 'PORT',
    help: 'Port of the first organization; 0: any free port. Further organizations listen on free ports.',
    read: integer(0, 65_535),
  },
  org: {
    default: ['demo'],
    value: 'NAME',
    help: 'Name of an organization, which has its own address and repositories.',
    repeatable: true,
    read: list(text('a name of lower-case letters, digits and dashes, as in a host name', LABEL), { least: 1 }),
  },
  ...TLS_ROWS,
  ...CORS_ROWS,
  readyFile: {
    value: 'FILE',
    help: 'File to which a line of JSON with the addresses is written as soon as the emulator responds.',
    read: text('the name of a file'),
  },
  exitWithParent: {
    default: false,
    help: 'Stop when the process that started the emulator has ended for any reason; shells and npx in between are skipped.',
    read: flag,
  },
  log: {
    default: 'pretty',
    value: 'FORM',
    help: 'Log format of requests on standard error: pretty, json, or quiet, which logs only internal errors.',
    read: choice(['pretty', 'json', 'quiet']),
  },
  clock: {
    default: 'real',
    value: 'TIME',
    help: 'Clock: "real", or the ISO 8601 start time of a manual clock, which advances 1 ms with each request.',
    read: clock,
  },
  seed: {
    default: '1',
    value: 'N',
    help: 'Seed of ids and random choices; the same seed gives the same ids and choices.',
    read: text('a seed'),
  },
  variants: {
    default: DEFAULT_VARIANTS,
    value: 'FILE',
    help: 'JSON file with variants: choices where the specification is open (see `emulator variants`).',
    read: variants,
  },
  allowedHost: {
    default: [],
    value: 'NAME',
    help: 'Host name under which clients may reach the emulator, in addition to loopback names.',
    repeatable: true,
    read: list(servedHostName),
  },
  adminToken: {
    value: 'TOKEN',
    help: 'Token that the admin routes require; default: none on loopback addresses, otherwise a generated token.',
    read: secret('a token of letters, digits and ._~+/-, optionally with = at its end', /^[A-Za-z0-9._~+/-]+=*$/),
  },
  namespacePorts: {
    default: [0],
    value: 'A-B',
    help: 'Ports on which namespaces (isolated copies of the service) listen, such as 9000-9099; default: any free port.',
    read: portRange,
  },
  key: {
    default: [],
    value: 'FILE[:ID]',
    help: 'PEM file with a key whose tokens are accepted, optionally followed by ;organization=NAME and ;allowed_scopes=SCOPE+SCOPE.',
    repeatable: true,
    read: list(key),
  },
  testKeys: {
    help: 'Accept the published test keys (--no-test-keys: refuse them); default: only on loopback.',
    read: flag,
  },
  upstreamHost: {
    default: {},
    value: 'PROVIDER=URL',
    help: 'Address from which upstream repositories of a provider are fetched, instead of its own address.',
    repeatable: true,
    read: urlsByName,
  },
  allowUpstream: {
    default: [],
    value: 'HOST',
    help: 'Host from which upstream repositories may be fetched, in addition to loopback.',
    repeatable: true,
    read: list(hostName),
  },
  allowWebhook: {
    default: [],
    value: 'HOST',
    help: 'Host to which webhooks may be delivered, in addition to loopback.',
    repeatable: true,
    read: list(hostName),
  },
  webhookPrefix: {
    default: 'X-Pierre',
    value: 'PREFIX',
    help: 'Prefix of the names of the headers of webhook deliveries.',
    read: text('a prefix of a header name', /^[A-Za-z][A-Za-z0-9-]{0,63}$/),
  },
  forgePrefix: {
    default: 'forge',
    value: 'PREFIX',
    help: 'Prefix of the error codes about the forge (hosting service of an upstream), as in forge_app_not_configured.',
    read: forgePrefix,
  },
  forgeApps: {
    default: 1,
    value: 'N',
    help: 'Number of forge applications of every organization; a sync of a private GitHub repository requires exactly one.',
    read: integer(0, 100),
  },
  hosting: {
    default: 'on',
    value: 'MODE',
    help: 'Hosting and deployments for the organizations: on or off.',
    read: choice(['on', 'off']),
  },
  fsck: {
    default: 'strict',
    value: 'MODE',
    help: 'Check of pushed objects: strict (as `git fsck --strict`) or off.',
    read: choice(['strict', 'off']),
  },
  inbandFaults: {
    help: 'Allow requests to bring faults (failures on demand) in a header or token (--no-inband-faults: refuse them); default: only on loopback.',
    read: flag,
  },
  scenario: {
    value: 'FILE',
    help: 'YAML or JSON file with a scenario that is started at once (see `emulator scenario`); options override its seed and clock.',
    read: scenarioFile,
  },
  import: {
    value: 'PATH',
    help: 'Export, folder, bundle, bare repository or clone URL that is imported at the start.',
    read: text('a path or a URL'),
  },
  persist: {
    value: 'DIR',
    help: 'Folder from which the state is loaded at the start, and to which it is saved within a second of each change and at the end.',
    read: text('the name of a folder'),
  },
  includeSecrets: {
    default: false,
    help: 'Also save secrets in the folder of --persist: credentials of upstreams, secrets of webhooks, variables of deployments.',
    read: flag,
  },
  adversarial: {
    default: false,
    help: 'Send unusual but legal responses: unknown members, members in another order, small pages, long waits, slow bytes.',
    read: flag,
  },
};

/** Description of an option for the documentation and the help. */
export interface OptionRow {
  /** Name of the option in camelCase. For a limit, the name of its member in `limits`. */
  readonly name: string;
  /** Flag without its leading dashes, such as `max-json-bytes`. */
  readonly flag: string;
  readonly variable: string;
  /** Placeholder of the value in the help, such as `FILE`; empty for a switch. */
  readonly value: string;
  /** Default as a user would type it; empty if there is none. */
  readonly shownDefault: string;
  readonly help: string;
  readonly repeatable: boolean;
  /** True for a boolean option. The flag has no value, and `--no-…` turns the option off. */
  readonly isSwitch: boolean;
  readonly isLimit: boolean;
}

interface Definition extends OptionRow {
  readonly default?: unknown;
  readonly read: Read<unknown>;
}

const DEFINITIONS: readonly Definition[] = [
  ...Object.entries(ROWS).map(([name, row]: [string, Row<unknown>]) => ({
    ...row,
    ...spell(name),
    shownDefault: showDefault(row.default),
    value: row.value ?? '',
    repeatable: row.repeatable === true,
    isSwitch: row.read === flag,
    isLimit: false,
  })),
  ...Object.entries(LIMITS).map(([name, [amount, unit, reason]]) => {
    const { read, value, write } = UNITS[unit] ?? COUNT;
    return {
      ...spell(name),
      default: amount,
      value,
      read,
      shownDefault: write(amount),
      help: `${reason[0]!.toUpperCase()}${reason.slice(1)}.`,
      repeatable: false,
      isSwitch: false,
      isLimit: true,
    };
  }),
];

export function optionRows(): readonly OptionRow[] {
  return DEFINITIONS;
}

function spell(name: string): Pick<OptionRow, 'name' | 'flag' | 'variable'> {
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return { name, flag, variable: `EMULATOR_${flag.replaceAll('-', '_').toUpperCase()}` };
}

function showDefault(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? '' : String(value ?? '');
}

/**
 * Returns the options in `given`, with defaults for absent options. Throws an `OptionError` that names the invalid
 * option.
 */
export function resolveOptions(given: GivenOptions = {}): EmulatorOptions {
  const { limits = {}, ...options } = given;
  refuseUnknown('option', options, false);
  refuseUnknown('limit', limits, true);
  return build(({ name, isLimit }) => {
    const from: Readonly<Record<string, unknown>> = isLimit ? limits : options;
    return { source: name, given: from[name] };
  });
}

function refuseUnknown(noun: string, given: object, isLimit: boolean): void {
  for (const name of Object.keys(given)) {
    if (DEFINITIONS.some((row) => row.name === name && row.isLimit === isLimit)) continue;
    throw new OptionError(
      `Unknown ${noun} ${JSON.stringify(name)}. The command "emulator options" lists all options and limits.`,
    );
  }
}

/** Values of command-line flags as the user typed them, by flag name without dashes. */
export type Flags = Readonly<Record<string, readonly string[]>>;

/**
 * Reads the options from the command line and the environment. A flag takes precedence over its environment variable,
 * and both over the default. Throws `OptionError`.
 */
export function readOptions(flags: Flags, environment: Readonly<Record<string, string | undefined>>): EmulatorOptions {
  return build(({ flag, variable, repeatable }) => {
    const typed = flags[flag];
    if (!typed) return { source: variable, given: environment[variable] || undefined };
    if (typed.length > 1 && !repeatable)
      throw new OptionError(`--${flag} was given more than once, but is allowed only once.`);
    return { source: `--${flag}`, given: repeatable ? typed : typed[0] };
  });
}

function build(find: (row: OptionRow) => { source: string; given: unknown }): EmulatorOptions {
  const options: Record<string, unknown> = {};
  const limits: Record<string, unknown> = {};
  const over: string[] = [];
  for (const row of DEFINITIONS) {
    const { source, given } = find(row);
    if (given !== undefined) over.push(row.name);
    (row.isLimit ? limits : options)[row.name] = given === undefined ? row.default : readNamed(source, row.read, given);
  }
  checkTlsOptions(options as unknown as TlsOptions);
  const { scenario } = options as Pick<EmulatorOptions, 'scenario'>;
  if (scenario?.source === '') {
    const [row] = DEFINITIONS.filter(({ name }) => name === 'scenario');
    const { source } = find(row!);
    options.scenario = { ...scenario, source, over: OF_SCENARIO.filter((name) => over.includes(name)) };
  }
  return { ...options, limits } as unknown as EmulatorOptions;
}
