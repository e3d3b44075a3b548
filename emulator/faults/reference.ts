import { type ProblemCode, problemCodes, shownCode } from '../http/problem.js';
import { isSwitchCode } from './kinds/error.js';
import { TEXT_NAMES } from './kinds/index.js';
import { type Kind, memberOf } from './kinds/kind.js';
import { factsByStage } from './known-facts.js';
import { RECIPES, writeCommands } from './recipes.js';
import { BEFORE_IN_BAND, STAGES, type Stage } from './stage.js';

/** Description of all faults that can be injected, as data for the documentation and the web page. */
export type FaultReference = ReturnType<typeof faultReference>;
export type NameReference = FaultReference['names'][number];
export type CodeReference = FaultReference['codes'][number];

/**
 * Returns the reference of all faults that can be injected, derived from the tables that implement the faults.
 * `forgePrefix` is the configurable prefix of some error codes, which responses use too.
 */
export function faultReference(forgePrefix = 'forge') {
  const shown = (name: string) => shownCode(name as ProblemCode, forgePrefix);
  const codes = new Map<string, { status: number; title: string }>(problemCodes().map((row) => [row.code, row]));
  return {
    grammar: 'name[*times][+skip][@stage][;key=value]…',
    stages: STAGES,
    /**
     * Conditions (members of `match`) by the stage at which they can first be checked. The stages are in the order in
     * which a request reaches them.
     */
    known: Object.fromEntries(factsByStage()),
    names: [...TEXT_NAMES].map(([name, kind]) => ({
      name: shown(name),
      ...describe(kind, name, codes.get(name)?.status),
    })),
    /** Error codes with shell commands that cause them. */
    codes: RECIPES.map((recipe) => {
      const { status, title } = codes.get(recipe.code)!;
      return { code: shown(recipe.code), status, title, way: recipe.way, commands: writeCommands(recipe) };
    }),
  };
}

/**
 * Describes the kind of fault that a name in the text form selects. `status` is the HTTP status of an error code;
 * undefined if the name is not an error code.
 */
function describe(kind: Kind, name: string, status: number | undefined) {
  const { about, keys, needs = [], oneOf = [], requires = {} } = kind;
  const stages = stagesWith(kind, {});
  const defaults = Object.entries(kind.defaults).filter(([, stage]) => stages.includes(stage));
  return {
    about,
    keys: Object.entries(keys).map(([key, { about, wants, form, read }]) => ({
      key,
      about,
      wants,
      needed: needs.includes(key),
      /** Key that must be given too; absent if the key requires no other. */
      ...(requires[key] !== undefined && { requires: requires[key] }),
      ...form,
      /**
       * Stages that remain possible with this key, if it excludes some. A choice has one item per value that excludes
       * stages.
       */
      narrows: (form.type === 'choice' ? form.values! : [form.example])
        .map((value) => ({
          ...(form.type === 'choice' && { value }),
          stages: stagesWith(kind, { [memberOf(key)]: read(value) }),
        }))
        .filter((narrowed) => narrowed.stages.length < stages.length),
    })),
    /** Keys that exclude each other: at most one of them may be given. */
    oneOf,
    /** Name of the action's only member in JSON. */
    action: status === undefined ? name : 'error',
    ...(status !== undefined && { status }),
    /** True if only a few operations can return this error code. */
    isOfFew: isSwitchCode(name as ProblemCode),
    stages,
    defaultStages: stages.filter((stage) => defaults.some(([, each]) => each === stage)),
    /**
     * Default stages for faults that name no stage: by operation id for Git operations, and under `api` for all others.
     * For an operation without an entry, the fault must name a stage.
     */
    defaults: Object.fromEntries(defaults) as Readonly<Record<string, Stage>>,
    /** Stages that are possible for a fault in a header or claim of the request itself. */
    inBandStages: stages.filter((stage) => !BEFORE_IN_BAND.has(stage)),
  };
}

/** Returns the stages at which a fault of this kind can fire if its JSON value has these members. */
function stagesWith(kind: Kind, values: object): readonly Stage[] {
  return kind.stagesOf?.(kind.ofKeys ? kind.ofKeys(values) : values) ?? kind.stages;
}
