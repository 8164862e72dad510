import { RuleTester } from "eslint";
import { describe, it } from "vitest";
import { rooms } from "./rooms.js";

RuleTester.describe = describe;
RuleTester.it = it;

const options = [{ root: "/app/src" }];
const file = (filename, code) => ({ filename: `/app/src/${filename}`, code, options });

new RuleTester().run("rooms", rooms, {
  valid: [
    file("features/run/RunPage.tsx", 'import { Log } from "./log/LogPanel";'),
    file("features/run/log/LogPanel.tsx", 'import { logs } from "../queries";'),
    file("features/run/log/LogPanel.tsx", 'import { line } from "./lines";'),
    file("features/run/log/LogPanel.tsx", 'import { data } from "../../../api/client";'),
    file("features/run/log/LogPanel.tsx", 'import { useState } from "react";'),
    file("app/router.tsx", 'const page = () => import("../features/run/RunPage");'),
  ],
  invalid: [
    {
      ...file("features/run/RunPage.tsx", 'import { runs } from "../runs/queries";'),
      errors: [{ message: /features\/run must not import from features\/runs/ }],
    },
    {
      ...file("features/run/log/LogPanel.tsx", 'import { Judges } from "../judges/JudgesPanel";'),
      errors: [{ message: /features\/run\/log must not import from features\/run\/judges/ }],
    },
    {
      ...file("features/presets/PresetPage.tsx", 'const page = () => import("../run/RunPage");'),
      errors: [{ messageId: "sideways" }],
    },
    {
      ...file("components/Page.tsx", 'import { runs } from "../features/runs/queries";'),
      errors: [{ messageId: "outside" }],
    },
    {
      ...file("app/Shell.tsx", 'import { runs } from "../features/runs/queries";'),
      errors: [{ messageId: "outside" }],
    },
  ],
});
