import { type ProblemCode, problemCodes, shownCode } from '../http/problem.js';
import type { KeyForm } from './key.js';
import { isSwitchCode } from './kinds/error.js';
import { type KindName, TEXT_NAMES } from './kinds/index.js';
import { type Kind, memberOf } from './kinds/kind.js';
import { factsByStage } from './known-facts.js';
import { type RecipeWay, writeCommands } from './recipe.js';
import { RECIPES } from './recipes.js';
import { BEFORE_IN_BAND, STAGES, type Stage } from './stage.js';

/** A name of the grammar, as it is printed. */
export interface NameReference {
  readonly name: string;
  readonly about: string;
  readonly keys: readonly KeyReference[];
  /** Keys of which at most one may be given. */
  readonly oneOf: readonly string[];
  /** The member of an action that it is written as in JSON. */
  readonly action: KindName;
  /** The status, of a code. */
  readonly status?: number;
  /** Only operations that list the code can answer with it. */
  readonly isOfFew: boolean;
  /** Where it can happen, and where it does unless a stage is given: Git's operations have stages of their own. */
  readonly stages: readonly Stage[];
  readonly defaultStages: readonly Stage[];
  /** The same by operation: Git's by their ids, the others as `api`; where one has none, it has to be given. */
  readonly defaults: Readonly<Record<string, Stage>>;
  /** Stages that requests can ask for by a header or a claim. */
  readonly inBandStages: readonly Stage[];
}

export interface KeyReference extends KeyForm {
  readonly key: string;
  readonly wants: string;
  readonly needed: boolean;
  /** Where the fault can happen with the key, where that is not everywhere: of a choice by its value. */
  readonly narrows: readonly { readonly value?: string; readonly stages: readonly Stage[] }[];
}

/** A code, and how to get it. */
export interface CodeReference {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly way: RecipeWay;
  readonly commands: readonly string[];
}

export interface FaultReference {
  readonly grammar: string;
  readonly stages: typeof STAGES;
  /** Members of `match` that are known from a stage on; the stages in the order in which a request comes to them. */
  readonly known: Readonly<Partial<Record<Stage, readonly string[]>>>;
  readonly names: readonly NameReference[];
  readonly codes: readonly CodeReference[];
}

/** Everything that can be asked for, from the tables that serve it; codes as a service with this prefix shows them. */
export function faultReference(forgePrefix = 'forge'): FaultReference {
  const shown = (name: string) => shownCode(name as ProblemCode, forgePrefix);
  const codes = new Map<string, { status: number; title: string }>(problemCodes().map((row) => [row.code, row]));
  return {
    grammar: 'name[*times][+skip][@stage][;key=value]…',
    stages: STAGES,
    known: Object.fromEntries(factsByStage()),
    names: [...TEXT_NAMES].map(([name, kind]) => {
      const code = codes.get(name);
      return { ...describeKind(kind), name: shown(name), ...describeName(name, code?.status) };
    }),
    codes: RECIPES.map((recipe) => {
      const { status, title } = codes.get(recipe.code)!;
      return { code: shown(recipe.code), status, title, way: recipe.way, commands: writeCommands(recipe) };
    }),
  };
}

function describeName(name: string, status: number | undefined): Pick<NameReference, 'action' | 'status' | 'isOfFew'> {
  if (status === undefined) return { action: name as KindName, isOfFew: false };
  return { action: 'error', status, isOfFew: isSwitchCode(name as ProblemCode) };
}

function describeKind(kind: Kind): Omit<NameReference, 'name' | 'action' | 'status' | 'isOfFew'> {
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
      narrows: (form.type === 'choice' ? form.values! : [form.example])
        .map((value) => ({ value, stages: stagesWith(kind, { [memberOf(key)]: read(value) }) }))
        .filter((narrowed) => narrowed.stages.length < stages.length)
        .map((narrowed) => (form.type === 'choice' ? narrowed : { stages: narrowed.stages })),
    })),
    oneOf,
    stages,
    defaultStages: stages.filter((stage) => defaults.some(([, each]) => each === stage)),
    defaults: Object.fromEntries(defaults),
    inBandStages: stages.filter((stage) => !BEFORE_IN_BAND.has(stage)),
  };
}

/** Stages of a kind with these values of its keys. */
function stagesWith(kind: Kind, values: object): readonly Stage[] {
  return kind.stagesOf?.(kind.ofKeys ? kind.ofKeys(values) : values) ?? kind.stages;
}
