/*
 * Declarations of the functions of vitest and jest that this package calls. Both are not dependencies of this package,
 * because the user installs them. The types that this package exports do not refer to these declarations.
 */

declare module 'vitest' {
  interface TestContext {
    readonly task: { readonly result?: { readonly state: string } };
  }
  export function beforeEach(hook: (context: TestContext) => Promise<void>): void;
  export function afterEach(hook: (context: TestContext) => Promise<void>): void;
  export function afterAll(hook: () => Promise<void>): void;
}

declare module '@jest/globals' {
  export function beforeAll(hook: () => Promise<void>): void;
  export function beforeEach(hook: () => Promise<void>): void;
  export function afterEach(hook: () => Promise<void>): void;
  export function afterAll(hook: () => Promise<void>): void;
}
