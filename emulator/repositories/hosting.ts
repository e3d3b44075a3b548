import { z } from 'zod';
import { lazy } from '../memory/lazy.js';

const setting = lazy(() => z.string().max(4096).nullable());

/** Schema of the settings of a hosting project (configuration of deployments) in requests and responses. */
export const hostingSettings = lazy(() =>
  z.object({
    /** Name of the project. It is unique within the organization. */
    project_name: z.string(),
    deploy_on_push: z.boolean(),
    production_branch: setting(),
    framework: setting(),
    root_directory: setting(),
    build_command: setting(),
    install_command: setting(),
    output_directory: setting(),
    serverless_function_region: z.string().max(4).nullable(),
  }),
);
type HostingSettings = z.infer<ReturnType<typeof hostingSettings>>;

/**
 * Hosting project of a repository (configuration of its deployments). Requests that create or update a repository
 * contain it as `deployment`.
 */
export interface HostingProject extends Readonly<HostingSettings> {
  /** Environment variables of deployments. They may be secret, so no response contains them. */
  readonly env: ReadonlyMap<string, string>;
}

/**
 * Changes to a hosting project. A setting that is absent stays unchanged. Null removes a setting or an environment
 * variable.
 */
export type HostingChanges = { readonly [Name in keyof HostingSettings]?: HostingSettings[Name] | undefined } & {
  readonly env?: Readonly<Record<string, string | null>> | undefined;
};

/**
 * Returns a copy of `project` with the changes. If `project` is undefined, returns a new project. It is named
 * `fallbackName` unless the changes contain a name.
 */
export function changeHosting(
  project: HostingProject | undefined,
  { env: envChanges = {}, ...changes }: HostingChanges,
  fallbackName: string,
): HostingProject {
  const env = new Map(project?.env);
  for (const [name, value] of Object.entries(envChanges)) {
    if (value === null) env.delete(name);
    else env.set(name, value);
  }
  const unset = Object.keys(hostingSettings().shape).map((name) => [name, null]);
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const settings = { ...Object.fromEntries(unset), project_name: fallbackName, deploy_on_push: false, ...project };
  return { ...settings, ...Object.fromEntries(given), env };
}
