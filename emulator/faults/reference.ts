import { type ProblemCode, problemCodes, shownCode } from '../http/problem.js';
import { isSwitchCode } from './kinds/error.js';
import { TEXT_NAMES } from './kinds/index.js';
import { type Kind, memberOf } from './kinds/kind.js';
import { factsByStage } from './known-facts.js';
import { RECIPES, writeCommands } from './recipes.js';
import { BEFORE_IN_BAND, STAGES, type Stage } from './stage.js';

/** Reference of all faults that can be injected, as data for the documentation and the web page. */
export type FaultReference = ReturnType<typeof faultReference>;
export type NameReference = FaultReference['names'][number];
export type CodeReference = FaultReference['codes'][number];

/**
 * Returns the reference of all faults that can be injected. It is derived from the tables that implement them. Some
 * error codes get the prefix `forgePrefix`, which a deployment can configure, as in responses.
 */
export function faultReference(forgePrefix = 'forge') {
  const shown = (name: string) => shownCode(name as ProblemCode, forgePrefix);
  const codes = new Map<string, { status: number; title: string }>(problemCodes().map((row) => [row.code, row]));
  return {
    grammar: 'name[*times][+skip][@stage][;key=value]…',
    stages: STAGES,
    /**
     * Conditions (members of `match`) by the stage of a request at which the service knows the facts that they compare.
     * The stages are in the order in which a request reaches them.
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
 * Describes the kind of fault that a name in the text form selects. `status`: HTTP status if the name is an error code;
 * undefined for other kinds.
 */
function describe(kind: Kind, name: string, status: number | undefined) {
  const { about, keys, needs = [], oneOf = [] } = kind;
  const stages = stagesWith(kind, {});
  const defaults = Object.entries(kind.defaults).filter(([, stage]) => stages.includes(stage));
  return {
    about,
    keys: Object.entries(keys).map(([key, { wants, form, read }]) => ({
      key,
      wants,
      needed: needs.includes(key),
      ...form,
      /**
       * Stages that remain possible if the key is given, listed only if they are fewer than without the key. If the key
       * is a choice, there is one item per value.
       */
      narrows: (form.type === 'choice' ? form.values! : [form.example])
        .map((value) => ({
          ...(form.type === 'choice' && { value }),
          stages: stagesWith(kind, { [memberOf(key)]: read(value) }),
        }))
        .filter((narrowed) => narrowed.stages.length < stages.length),
    })),
    /** Keys of which at most one may be given. */
    oneOf,
    /** Name of the only member of the action in JSON. */
    action: status === undefined ? name : 'error',
    ...(status !== undefined && { status }),
    /** True if only few operations can return this error code. */
    isOfFew: isSwitchCode(name as ProblemCode),
    stages,
    defaultStages: stages.filter((stage) => defaults.some(([, each]) => each === stage)),
    /**
     * Stage if the fault names none, by operation: Git operations by id, all others as `api`. If an operation has none,
     * a fault for this operation must name a stage.
     */
    defaults: Object.fromEntries(defaults) as Readonly<Record<string, Stage>>,
    /** Stages at which a fault can fire that the request itself asks for in a header or claim. */
    inBandStages: stages.filter((stage) => !BEFORE_IN_BAND.has(stage)),
  };
}

/** Returns the stages at which a fault of this kind can fire if its keys have these values. */
function stagesWith(kind: Kind, values: object): readonly Stage[] {
  return kind.stagesOf?.(kind.ofKeys ? kind.ofKeys(values) : values) ?? kind.stages;
}
