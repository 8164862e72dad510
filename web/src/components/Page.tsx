import { Link, type LinkProps } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { type ReactNode, useEffect } from "react";

interface Props {
  title: string;
  intro?: ReactNode;
  actions?: ReactNode;
  back?: { to: LinkProps["to"]; label: string };
  badge?: ReactNode;
  children: ReactNode;
}

/** A page: its title, what can be done, and the rest. The title is also the window's, while the host lets us. */
export function Page({ title, intro, actions, back, badge, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Carrel`;
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <div className="grow">
          {back && (
            <Link to={back.to ?? "/"} className="crumb">
              <ChevronLeft size={14} aria-hidden />
              {back.label}
            </Link>
          )}
          <div className="row">
            <h1>{title}</h1>
            {badge}
          </div>
          {intro && <p>{intro}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
