import { type ProblemCode, problemCodes, shownCode } from '../http/problem.js';
import { isSwitchCode } from './kinds/error.js';
import { TEXT_NAMES } from './kinds/index.js';
import { type Kind, memberOf } from './kinds/kind.js';
import { factsByStage } from './known-facts.js';
import { RECIPES, writeCommands } from './recipes.js';
import { BEFORE_IN_BAND, STAGES, type Stage } from './stage.js';

/** Everything that can be asked for. */
export type FaultReference = ReturnType<typeof faultReference>;
export type NameReference = FaultReference['names'][number];
export type CodeReference = FaultReference['codes'][number];

/** Describes all that can be asked for, from the tables that serve it; codes as a service with this prefix shows them. */
export function faultReference(forgePrefix = 'forge') {
  const shown = (name: string) => shownCode(name as ProblemCode, forgePrefix);
  const codes = new Map<string, { status: number; title: string }>(problemCodes().map((row) => [row.code, row]));
  return {
    grammar: 'name[*times][+skip][@stage][;key=value]…',
    stages: STAGES,
    /** Members of `match` that are known from a stage on; the stages in the order in which a request comes to them. */
    known: Object.fromEntries(factsByStage()),
    names: [...TEXT_NAMES].map(([name, kind]) => ({
      name: shown(name),
      ...describe(kind, name, codes.get(name)?.status),
    })),
    /** Codes, and how to get them. */
    codes: RECIPES.map((recipe) => {
      const { status, title } = codes.get(recipe.code)!;
      return { code: shown(recipe.code), status, title, way: recipe.way, commands: writeCommands(recipe) };
    }),
  };
}

/** Describes a name of the grammar; `status` is that of a code. */
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
      /** Where the fault can happen with the key, where that is not everywhere: of a choice by its value. */
      narrows: (form.type === 'choice' ? form.values! : [form.example])
        .map((value) => ({
          ...(form.type === 'choice' && { value }),
          stages: stagesWith(kind, { [memberOf(key)]: read(value) }),
        }))
        .filter((narrowed) => narrowed.stages.length < stages.length),
    })),
    /** Keys of which at most one may be given. */
    oneOf,
    /** The member of an action that it is written as in JSON. */
    action: status === undefined ? name : 'error',
    ...(status !== undefined && { status }),
    /** Only operations that list the code can answer with it. */
    isOfFew: isSwitchCode(name as ProblemCode),
    stages,
    defaultStages: stages.filter((stage) => defaults.some(([, each]) => each === stage)),
    /** By operation: Git's by their ids, the others as `api`; where one has none, a stage has to be given. */
    defaults: Object.fromEntries(defaults) as Readonly<Record<string, Stage>>,
    /** Stages that requests can ask for by a header or a claim. */
    inBandStages: stages.filter((stage) => !BEFORE_IN_BAND.has(stage)),
  };
}

/** Stages of a kind with these values of its keys. */
function stagesWith(kind: Kind, values: object): readonly Stage[] {
  return kind.stagesOf?.(kind.ofKeys ? kind.ofKeys(values) : values) ?? kind.stages;
}
