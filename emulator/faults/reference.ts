import { type ProblemCode, problemCodes, shownCode } from '../http/problem.js';
import { isSwitchCode } from './kinds/error.js';
import { TEXT_NAMES } from './kinds/index.js';
import { type Kind, memberOf } from './kinds/kind.js';
import { factsByStage } from './known-facts.js';
import { RECIPES, writeCommands } from './recipes.js';
import { BEFORE_IN_BAND, STAGES, type Stage } from './stage.js';

/** Reference of all faults. */
export type FaultReference = ReturnType<typeof faultReference>;
export type NameReference = FaultReference['names'][number];
export type CodeReference = FaultReference['codes'][number];

/**
 * Returns the reference of all faults, from the tables that implement them. Codes have the prefix `forgePrefix`, as in
 * responses.
 */
export function faultReference(forgePrefix = 'forge') {
  const shown = (name: string) => shownCode(name as ProblemCode, forgePrefix);
  const codes = new Map<string, { status: number; title: string }>(problemCodes().map((row) => [row.code, row]));
  return {
    grammar: 'name[*times][+skip][@stage][;key=value]…',
    stages: STAGES,
    /** Members of `match` by the stage at which they become known, in pipeline order. */
    known: Object.fromEntries(factsByStage()),
    names: [...TEXT_NAMES].map(([name, kind]) => ({
      name: shown(name),
      ...describe(kind, name, codes.get(name)?.status),
    })),
    /** Codes with their recipes. */
    codes: RECIPES.map((recipe) => {
      const { status, title } = codes.get(recipe.code)!;
      return { code: shown(recipe.code), status, title, way: recipe.way, commands: writeCommands(recipe) };
    }),
  };
}

/** Describes a name of the text form. `status` is that of a code; undefined for other kinds. */
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
      /** Stages that the key restricts the fault to; for a choice, by its values. */
      narrows: (form.type === 'choice' ? form.values! : [form.example])
        .map((value) => ({
          ...(form.type === 'choice' && { value }),
          stages: stagesWith(kind, { [memberOf(key)]: read(value) }),
        }))
        .filter((narrowed) => narrowed.stages.length < stages.length),
    })),
    /** Keys of which at most one may be given. */
    oneOf,
    /** Member of the JSON action. */
    action: status === undefined ? name : 'error',
    ...(status !== undefined && { status }),
    /** Only operations that list the code can return it. */
    isOfFew: isSwitchCode(name as ProblemCode),
    stages,
    defaultStages: stages.filter((stage) => defaults.some(([, each]) => each === stage)),
    /**
     * Default stages by operation: Git operations by id, all others as `api`. If an operation has none, the fault must
     * name a stage.
     */
    defaults: Object.fromEntries(defaults) as Readonly<Record<string, Stage>>,
    /** Stages at which in-band faults can fire. */
    inBandStages: stages.filter((stage) => !BEFORE_IN_BAND.has(stage)),
  };
}

/** Returns the stages of a kind for these values of its keys. */
function stagesWith(kind: Kind, values: object): readonly Stage[] {
  return kind.stagesOf?.(kind.ofKeys ? kind.ofKeys(values) : values) ?? kind.stages;
}
