//! The files of a session beside others': modes, locks, listings, what is missing or foreign.
#![expect(clippy::disallowed_methods, reason = "tests make the files that the store must survive")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::crash_tests::{Live, WORKSPACE, id, message, reply, said};
use super::disk::{Disk, OsDisk};
use super::home::{Extent, Home, Trust};
use super::lock::LockError;
use super::mem_disk::{MemDisk, Unsynced};
use super::reader::{self, OpenError};
use super::scan;
use crate::base::secret::Redactor;
use crate::conversation::message::{Block, Role};

fn modes(folder: &Path, found: &mut Vec<(PathBuf, u32)>) {
    for entry in folder.read_dir().unwrap().map(Result::unwrap) {
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        found.push((entry.path(), mode));
        if entry.path().is_dir() {
            modes(&entry.path(), found);
        }
    }
}

// X14: files and folders are private, and loose ones of before are tightened.
#[test]
fn files_are_private_from_the_moment_they_exist() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    std::fs::create_dir_all(home.sessions()).unwrap();
    std::fs::set_permissions(home.sessions(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let disk: Arc<dyn Disk> = Arc::new(OsDisk);
    let mut live = Live::new(&disk, &home, id(1));
    live.add(said(1));
    live.writer.blob(b"picture", "image/png").unwrap();
    live.save();
    let mut found = Vec::new();
    modes(&home.sessions(), &mut found);
    assert!(found.len() >= 4, "{found:?}");
    assert!(found.iter().all(|(_, mode)| mode & 0o700 == *mode), "{found:?}");
    let own = home.sessions().metadata().unwrap().permissions().mode();
    assert_eq!(own & 0o077, 0);
}

// S06: the second opener is told who holds the session; a dead holder blocks nobody.
#[test]
fn a_session_is_open_once_and_its_holder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let disk: Arc<dyn Disk> = Arc::new(OsDisk);
    let mut live = Live::new(&disk, &home, id(1));
    live.add(said(1));
    live.save();
    let second = reader::open(&disk, &home, id(1), Redactor::default());
    let Err(OpenError::Lock(LockError::Held { pid, .. })) = second else { panic!("{second:?}") };
    assert_eq!(pid, Some(std::process::id()));
    // As when its process dies: the file that names it stays, the lock does not.
    drop(live.writer);
    assert!(home.session(id(1)).holder().exists());
    reader::open(&disk, &home, id(1), Redactor::default()).unwrap();
}

// S03: what cannot be read costs its own row, and nothing is changed by looking.
#[test]
fn unreadable_files_do_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let disk: Arc<dyn Disk> = Arc::new(OsDisk);
    for seed in 1..=18 {
        let mut live = Live::new(&disk, &home, id(seed));
        live.add(said(1));
        live.save();
        live.writer.close().unwrap();
    }
    let put = |seed: u64, bytes: &[u8]| {
        let path = home.session(id(seed)).snapshot();
        std::fs::write(&path, bytes).unwrap();
        path
    };
    put(101, &[0; 413]);
    put(102, b"");
    let closed = put(103, b"{}");
    std::fs::set_permissions(closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    std::fs::create_dir(home.sessions().join("x.json")).unwrap();
    std::os::unix::fs::symlink("/nowhere", home.session(id(104)).snapshot()).unwrap();
    put(105, b"{\"version\":1,\"id\":\"\xff\"}");
    let unknown = format!(
        r#"{{"version":1,"id":"{}","updatedAt":"2026-10-22T09:23:20.878Z","messageCount":1,"mode":"dream"}}"#,
        id(106)
    );
    put(106, unknown.as_bytes());
    std::fs::write(home.sessions().join("notes.txt"), "mine").unwrap();
    let listing = scan::scan(&*disk, &home);
    assert_eq!((listing.rows.len(), listing.unreadable.len(), listing.empty), (18, 7, 0));
    let here = scan::of_workspace(&*disk, listing, Path::new(WORKSPACE));
    assert_eq!(here.rows.len(), 18);
    assert!(reader::newest(&*disk, &home, Path::new(WORKSPACE)).is_some());
    assert_eq!(reader::newest(&*disk, &home, Path::new("/work/b")), None);
}

#[test]
fn a_session_killed_before_its_first_snapshot_is_listed_and_found() {
    let disk = MemDisk::default();
    let home = Home::at("/h");
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut live = Live::new(&shared, &home, id(1));
    live.add(said(1));
    live.sync();
    let listing = scan::scan(&disk, &home);
    assert_eq!(listing.rows[0].head.preview, "say 1");
    assert_eq!(listing.rows[0].head.workspace, Path::new(WORKSPACE));
    let text = id(1).to_string();
    assert_eq!(reader::find(&disk, &home, &text[..20]).unwrap(), id(1));
    assert!(matches!(reader::find(&disk, &home, &text[..5]), Err(OpenError::Missing(_))));
    Live::new(&shared, &home, id(2)).add(said(1));
    assert!(matches!(
        reader::find(&disk, &home, &text[..8]),
        Err(OpenError::Ambiguous { count: 2, .. })
    ));
}

#[test]
fn a_lost_archive_is_begun_anew_and_stands_alone() {
    let disk = MemDisk::default();
    let home = Home::at("/h");
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut live = Live::new(&shared, &home, id(1));
    live.add(said(1));
    live.add(reply(2));
    live.save();
    live.writer.close().unwrap();
    let paths = home.session(id(1));
    disk.remove(&paths.archive()).unwrap();
    let opened = reader::open(&shared, &home, id(1), Redactor::default()).unwrap();
    assert_eq!(opened.recovered.warnings.len(), 1);
    drop(opened);
    disk.remove(&paths.snapshot()).unwrap();
    let loaded = reader::load(&disk, &home, id(1)).unwrap();
    assert_eq!(loaded.state.transcript, live.replay.state().transcript);
}

#[test]
fn an_archive_that_lost_its_end_gets_it_back_from_the_snapshot() {
    let disk = MemDisk::default();
    let home = Home::at("/h");
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut live = Live::new(&shared, &home, id(1));
    for record in [said(1), reply(2), said(3), reply(4)] {
        live.add(record);
    }
    live.save();
    live.writer.close().unwrap();
    let paths = home.session(id(1));
    let whole = disk.read(&paths.archive()).unwrap();
    for end in (0..whole.len()).step_by(7) {
        let disk = disk.reboot(Unsynced::Kept);
        disk.put(&paths.archive(), &whole[..end]);
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let mut opened = reader::open(&shared, &home, id(1), Redactor::default()).unwrap();
        assert_eq!(opened.recovered.state.transcript, live.replay.state().transcript, "{end}");
        opened.writer.close().unwrap();
        disk.remove(&paths.snapshot()).unwrap();
        let loaded = reader::load(&disk, &home, id(1)).unwrap();
        assert_eq!(loaded.state.transcript, live.replay.state().transcript, "{end}");
        assert_eq!(loaded.warnings, vec![], "{end}");
    }
}

// S13: a session of a newer version is listed, refused with a reason, and left byte for byte as it was.
#[test]
fn a_newer_session_is_listed_and_left_alone() {
    let disk = MemDisk::default();
    let home = Home::at("/h");
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut live = Live::new(&shared, &home, id(1));
    live.add(said(1));
    live.save();
    live.writer.close().unwrap();
    let paths = home.session(id(1));
    let saved = String::from_utf8(disk.read(&paths.snapshot()).unwrap()).unwrap();
    disk.put(&paths.snapshot(), saved.replace("\"version\":1", "\"version\":99").as_bytes());
    let files = || -> Vec<_> {
        disk.paths().iter().map(|path| (path.clone(), disk.read(path).unwrap())).collect()
    };
    let before = files();
    assert!(scan::scan(&disk, &home).rows[0].is_newer());
    assert_eq!(reader::newest(&disk, &home, Path::new(WORKSPACE)), None);
    let error = reader::open(&shared, &home, id(1), Redactor::default()).unwrap_err();
    assert!(error.to_string().contains("newer crystal (format 99)"), "{error}");
    assert_eq!(files(), before);
}

#[test]
fn a_session_is_listed_whatever_the_size_of_its_first_message() {
    let disk = MemDisk::default();
    let home = Home::at("/h");
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut live = Live::new(&shared, &home, id(1));
    let text = format!("look at this {}", "x".repeat(3_000_000));
    live.add(message(1, Role::User, Block::text(text)).into());
    live.add(reply(2));
    let listing = scan::scan(&disk, &home);
    assert!(listing.rows[0].head.preview.starts_with("look at this xxx"));
}

#[test]
fn trust_covers_directories_and_what_is_below_where_it_says_so() {
    let disk = MemDisk::default();
    let home = Home::at("/h");
    disk.put(
        &home.trust(),
        br#"{"future":1,"trusted":["/a",{"path":"/b","below":true},{"path":"/c"}]}"#,
    );
    let mut trust = Trust::load(&disk, &home).unwrap();
    trust.add(&disk, &home, Path::new("/d"), Extent::AndBelow).unwrap();
    let trust = Trust::load(&disk, &home).unwrap();
    for (path, is_trusted) in [
        ("/a", true),
        ("/a/x", false),
        ("/b/x", true),
        ("/bx", false),
        ("/c", true),
        ("/c/x", false),
        ("/d/x", true),
    ] {
        assert_eq!(trust.covers(Path::new(path)), is_trusted, "{path}");
    }
    assert!(
        String::from_utf8(disk.read(&home.trust()).unwrap()).unwrap().contains("\"future\": 1")
    );
}
