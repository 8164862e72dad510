import { useDensity } from "../../app/settings";
import { Segments } from "../Segments";

/** How close rows stand, in every table and list: a setting of the user's. */
export function DensityChoice() {
  const [density, setDensity] = useDensity();
  return (
    <Segments
      label="Density"
      value={density}
      onChange={setDensity}
      options={[
        ["comfortable", "Comfortable"],
        ["compact", "Compact"],
      ]}
    />
  );
}
