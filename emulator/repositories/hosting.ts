/** How a repository is deployed: the `deployment` object of create and update repository. */
export interface HostingProject extends HostingTexts {
  /** Unique within the organization. */
  readonly projectName: string;
  readonly deployOnPush: boolean;
  /** Never leaves the process: no answer shows what is set here. */
  readonly env: ReadonlyMap<string, string>;
}

/** Changes to a project: what is absent stays, null takes a setting or a variable away. */
export type HostingChanges = {
  readonly [Name in keyof Omit<HostingProject, 'env'>]?: HostingProject[Name] | undefined;
} & { readonly env?: ReadonlyMap<string, string | null> | undefined };

/** Settings that are text or not set. */
const UNSET = {
  productionBranch: null,
  framework: null,
  rootDirectory: null,
  buildCommand: null,
  installCommand: null,
  outputDirectory: null,
  serverlessFunctionRegion: null,
};

type HostingTexts = { readonly [Name in keyof typeof UNSET]: string | null };

/** `project` with `changes` in it; a new project named `fallbackName` when there is none yet. */
export function changeHosting(
  project: HostingProject | undefined,
  { env: envChanges = new Map(), ...changes }: HostingChanges,
  fallbackName: string,
): HostingProject {
  const env = new Map(project?.env);
  for (const [name, value] of envChanges) {
    if (value === null) env.delete(name);
    else env.set(name, value);
  }
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  return { projectName: fallbackName, deployOnPush: false, ...UNSET, ...project, ...given, env };
}
