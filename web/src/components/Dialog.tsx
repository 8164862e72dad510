import type { ReactNode } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { Button } from "./Button";

interface Props {
  title: string;
  isOpen: boolean;
  /** Without it the user cannot close the dialog: it stays until what it waits for has happened. */
  onClose?: () => void;
  wide?: boolean;
  urgent?: boolean;
  children: ReactNode;
}

export function Dialog({ title, isOpen, onClose, wide, urgent, children }: Props) {
  return (
    <ModalOverlay
      className={`overlay ${urgent ? "urgent" : ""}`}
      isOpen={isOpen}
      isDismissable={onClose !== undefined}
      isKeyboardDismissDisabled={onClose === undefined}
      onOpenChange={(open) => !open && onClose?.()}
    >
      <Modal className={`modal ${wide ? "wide" : ""}`}>
        <AriaDialog className="dialog" role={urgent ? "alertdialog" : "dialog"}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ConfirmProps {
  title: string;
  text: ReactNode;
  action: string;
  isOpen: boolean;
  isPending?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, text, action, isOpen, isPending, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose} urgent>
      <p>{text}</p>
      <div className="row end">
        <Button onPress={onClose}>Keep</Button>
        <Button variant="danger" onPress={onConfirm} isDisabled={isPending ?? false}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
