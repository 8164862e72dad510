"""The peer: the same two routes as one customarily writes them: FastAPI, SQLAlchemy, SQLCipher, pydantic models.

    python -m benchmarks.servers.customary PORT FOLDER

Each user has an encrypted file and an engine for it; a dependency checks the token's signature and opens a session.
"""

import hmac
import secrets
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import sqlcipher3
import uvicorn
from fastapi import Depends, FastAPI, Header, HTTPException
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import DateTime, String, Text, create_engine, event
from sqlalchemy.engine import Engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, sessionmaker

from benchmarks.servers.tokens import token_of

KEY = bytes(range(32)).hex()
BODY = "The quick brown fox jumps over the lazy dog. " * 22
FOLDER = Path(sys.argv[2]) if len(sys.argv) > 2 else Path()


class Base(DeclarativeBase):
    """The declarative base."""


class Content(Base):
    """A content."""

    __tablename__ = "contents"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    type: Mapped[str] = mapped_column(String(40))
    body: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime)


class ContentIn(BaseModel):
    """A new content."""

    name: str = Field(min_length=1, max_length=200)
    type: str
    body: str


class ContentOut(BaseModel):
    """A content as it is shown."""

    model_config = ConfigDict(from_attributes=True)
    id: str
    name: str
    type: str
    body: str
    created_at: datetime


app = FastAPI()
_sessions: dict[str, sessionmaker[Session]] = {}


def sessions_of(user: str) -> "sessionmaker[Session]":
    """The session maker of a user's encrypted database, made at the first use."""
    if user not in _sessions:
        engine: Engine = create_engine(
            f"sqlite:///{FOLDER / user}.db", module=sqlcipher3, connect_args={"check_same_thread": False}
        )

        @event.listens_for(engine, "connect")
        def unlock(connection: Any, _record: object) -> None:
            connection.execute(f"PRAGMA key = \"x'{KEY}'\"")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")

        Base.metadata.create_all(engine)
        _sessions[user] = sessionmaker(engine)
    return _sessions[user]


def database(x_svc_session_token: Annotated[str, Header()]) -> Iterator[Session]:
    """The dependency of every route."""
    user = x_svc_session_token.partition(".")[0]
    if not hmac.compare_digest(x_svc_session_token, token_of(user)):
        raise HTTPException(401)
    with sessions_of(user)() as session:
        yield session


@app.get("/api/contents/{content_id}")
def read_content(content_id: str, session: Annotated[Session, Depends(database)]) -> ContentOut:
    """One content."""
    content = session.get(Content, content_id)
    if content is None:
        raise HTTPException(404)
    return ContentOut.model_validate(content)


@app.post("/api/contents", status_code=201)
def create_content(data: ContentIn, session: Annotated[Session, Depends(database)]) -> ContentOut:
    """A new content."""
    content = Content(id=secrets.token_hex(16), created_at=datetime.now(UTC).replace(tzinfo=None), **data.model_dump())
    session.add(content)
    session.commit()
    return ContentOut.model_validate(content)


if __name__ == "__main__":
    with sessions_of("user0")() as first:
        row = Content(id="c1", name="A note", type="input_document", body=BODY[:1000], created_at=datetime(2026, 1, 1))
        first.add(row)
        first.commit()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
