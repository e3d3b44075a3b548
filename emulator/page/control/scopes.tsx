/** The scopes of the specification, by what they are about. */
const GROUPS: readonly (readonly [string, readonly string[]])[] = [
  ['Git', ['git:read', 'git:write']],
  ['Repositories', ['repo:write', 'org:read']],
  ['Deployments', ['deployment:read', 'deployment:write']],
];

interface ScopeChoiceProps {
  readonly legend: string;
  readonly scopes: readonly string[];
  readonly onChange: (scopes: readonly string[]) => void;
}

export function ScopeChoice({ legend, scopes, onChange }: ScopeChoiceProps) {
  const toggle = (scope: string) =>
    onChange(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope]);
  return (
    <fieldset>
      <legend>{legend}</legend>
      <dl class="facts">
        {GROUPS.map(([title, names]) => [
          <dt key={title}>{title}</dt>,
          <dd key={`${title} scopes`} class="scopes">
            {names.map((scope) => (
              <label key={scope} class="inline">
                <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />
                {scope}
              </label>
            ))}
          </dd>,
        ])}
      </dl>
    </fieldset>
  );
}
