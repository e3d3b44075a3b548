import type { Limits } from '../config/limits.js';
import type { Variants } from '../config/variants.js';
import { ValuePart } from './state-part.js';

/** Settings of a world (state of an emulated service) that a test can change while the service runs. */
export interface SettingValues {
  readonly limits: Limits;
  readonly variants: Variants;
}

/** Changes of settings. Absent settings stay unchanged. */
export interface SettingChanges {
  readonly limits?: { readonly [Name in keyof Limits]?: number | undefined } | undefined;
  readonly variants?: Partial<Variants> | undefined;
}

export class Settings extends ValuePart<SettingValues> {
  get limits(): Limits {
    return this.value.limits;
  }

  get variants(): Variants {
    return this.value.variants;
  }

  change({ limits = {}, variants = {} }: SettingChanges): void {
    const { value: values } = this;
    this.value = { limits: withGiven(values.limits, limits), variants: withGiven(values.variants, variants) };
  }
}

/** Returns a copy of `values` with the members of `changes` that are not undefined. */
export function withGiven<Values extends object>(values: Values, changes: object): Values {
  return { ...values, ...Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) };
}
