import { readAddresses } from '../api/addresses.js';
import { Choice } from '../components/fields.js';
import { useLoaded } from '../components/loaded.js';

export interface OrganizationChoiceProps {
  /** Empty: the organization that the address of the page selects. */
  readonly value: string;
  readonly onChange: (organization: string) => void;
}

export function OrganizationChoice(props: OrganizationChoiceProps) {
  const { value: addresses = [] } = useLoaded(readAddresses, []);
  return (
    <Choice
      label="Organization"
      options={[['', 'that of this address'], ...addresses.map(({ org }) => org)]}
      {...props}
    />
  );
}
