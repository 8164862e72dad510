import type { ReactNode } from "react";
import { Button as AriaButton, type ButtonProps, Tooltip, TooltipTrigger } from "react-aria-components";

interface Props extends Omit<ButtonProps, "className" | "children" | "style"> {
  variant?: "primary" | "plain" | "quiet" | "danger";
  small?: boolean;
  children: ReactNode;
}

export function Button({ variant = "plain", small, children, ...rest }: Props) {
  return (
    <AriaButton {...rest} className={`btn ${variant} ${small ? "small" : ""}`}>
      {children}
    </AriaButton>
  );
}

interface IconProps extends Omit<Props, "children"> {
  label: string;
  icon: ReactNode;
}

/** A button with an icon; its label is read out, and shown on hover and focus. */
export function IconButton({ label, icon, variant = "quiet", small, ...rest }: IconProps) {
  return (
    <TooltipTrigger delay={500}>
      <AriaButton {...rest} aria-label={label} className={`btn icon ${variant} ${small ? "small" : ""}`}>
        {icon}
      </AriaButton>
      <Tooltip className="popover small">{label}</Tooltip>
    </TooltipTrigger>
  );
}
