import { Link, type LinkProps } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { useSession } from "../app/context";

interface Props {
  title: string;
  intro?: ReactNode;
  actions?: ReactNode;
  back?: { to: LinkProps["to"]; label: string };
  badge?: ReactNode;
  /** What the window's title says first, for a window that is not in front. */
  news?: string | undefined;
  children: ReactNode;
}

/** A page: its title, its actions and its content. The title is also the window's. */
export function Page({ title, intro, actions, back, badge, news, children }: Props) {
  const { isSeen } = useSession();
  useEffect(() => {
    if (isSeen) document.title = [news, title, "Carrel"].filter(Boolean).join(" · ");
    return () => void (document.title = "Carrel");
  }, [title, news, isSeen]);
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
