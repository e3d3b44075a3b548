import { z } from 'zod';
import { lazy } from '../memory/lazy.js';

const setting = lazy(() => z.string().max(4096).nullable());

/** Settings of a hosting project, as in requests and responses. */
export const hostingSettings = lazy(() =>
  z.object({
    /** Unique within the organization. */
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

/** Hosting project of a repository: the `deployment` object of create and update repository. */
export interface HostingProject extends Readonly<HostingSettings> {
  /** Environment of deployments. No response shows it. */
  readonly env: ReadonlyMap<string, string>;
}

/** Changes of a project. Absent members stay, and null removes a setting or a variable. */
export type HostingChanges = { readonly [Name in keyof HostingSettings]?: HostingSettings[Name] | undefined } & {
  readonly env?: Readonly<Record<string, string | null>> | undefined;
};

/** Returns `project` with the changes, or a new project named `fallbackName` if there is none. */
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
